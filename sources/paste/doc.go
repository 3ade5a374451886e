// Package paste reads what people paste, save or pipe: files, folders and standard input, sniffed by content and never by
// file name, with several things in one file. It appends what it finds to an evidence.Set and records in the set's
// Coverage what it could not read, with file, line and reason. Nothing that could be read is lost because something beside
// it could not.
//
// It never runs anything, follows no reference out of its input, reads no clock and draws no conclusions.
//
// # How a file is read
//
// A file is a sequence of JSON documents, YAML documents and lines of text in any order. A document is recognised where it
// begins; JSON is read as a stream of tokens and never as a whole, YAML document by document (a List element by element).
// A JSON or YAML document that turns out to be no known thing is given to the text reader after all, line by line.
//
// # Bounds
//
// Memory does not grow with what is thrown away. Of a line 64 KiB are kept, the rest is dropped and named ([MaxLine]). A
// JSON token may have 4 MiB ([MaxToken]); one JSON object outside the fast path for events may take about 32 MiB as a tree
// ([MaxTree]), what lies beyond it is skipped and named. A YAML document, or an element of a YAML List, may have 1 MiB
// ([MaxYAML]), 10,000 lines ([MaxYAMLLines]) and, with every alias counted as what it stands for, 200,000 nodes
// ([MaxYAMLNodes]). Nesting is followed for 100 levels ([MaxDepth]). Of log lines and requests the last [MaxKept] are
// kept, or a quarter fewer. So 2 GiB in one line of anything run through in less than 128 MB.
package paste
