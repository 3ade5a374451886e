package paste

// The bounds of what is held in memory. The package comment says what becomes of the rest.
const (
	// MaxLine is how many bytes of a line of text are kept.
	MaxLine = 64 << 10
	// MaxToken is the longest JSON token in bytes. An object in etcd has at most 1.5 MiB.
	MaxToken = 4 << 20
	// MaxTree bounds the memory of one JSON object that is read as a tree, in bytes, as estimated by nodeCost.
	MaxTree = 32 << 20
	// MaxYAML is the longest YAML document, or element of a YAML List, in bytes.
	MaxYAML = 1 << 20
	// MaxYAMLLines bounds the lines of such a document, a comma counting as a line: the parser takes up to 4 KiB and, for
	// flat mappings, quadratic time for each.
	MaxYAMLLines = 10_000
	// MaxYAMLNodes bounds the nodes of a YAML document after its aliases are expanded.
	MaxYAMLNodes = 200_000
	// MaxDepth is how deep JSON and YAML may be nested; the API's own objects stay below 40.
	MaxDepth = 100
	// MaxKept bounds the items of each sort that one call of Read keeps.
	MaxKept = 500_000

	// replayBytes is how much of a JSON document is remembered, to be read as text if it is no known thing.
	replayBytes = 256 << 10
	// maxInputNotes bounds how many unreadable pieces of one file are named one by one.
	maxInputNotes = 50
	// maxTries is after how many JSON-like lines or list elements in a row that are no known thing no more are looked for.
	maxTries = 10_000
	// nodeCost estimates the memory of one value of a tree beside its text: the map entry or element and its header.
	nodeCost = 64
)
