package paste

import (
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// lineInput is a buffered input that can be read by lines and, between lines, as a stream, and that knows the number of
// the line at its position.
type lineInput struct {
	r          io.Reader
	buf        []byte
	start, end int
	off        int64 // of buf[start] in the input
	lineNo     int   // of buf[start], from 1
	err        error // what ended r, io.EOF at the regular end
}

func newLineInput(r io.Reader) *lineInput {
	return &lineInput{r: r, buf: make([]byte, 2*MaxLine), lineNo: 1}
}

// more reads on; false when there is nothing more or no room.
func (in *lineInput) more() bool {
	if in.err != nil {
		return false
	}
	if in.start > 0 && in.end == len(in.buf) {
		in.end = copy(in.buf, in.buf[in.start:in.end])
		in.start = 0
	}
	if in.end == len(in.buf) {
		return false
	}
	for range 100 {
		n, err := in.r.Read(in.buf[in.end:])
		in.end += n
		if err != nil {
			in.err = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	in.err = io.ErrNoProgress
	return false
}

// peekLine gives the line at the position, without its end; whole is false when it is longer than MaxLine (then the line
// is cut). ok is false at the end of the input.
func (in *lineInput) peekLine() (line []byte, whole, ok bool) {
	seen := 0
	for {
		w := in.buf[in.start:in.end]
		if i := bytes.IndexByte(w[seen:], '\n'); i >= 0 && seen+i <= MaxLine {
			return bytes.TrimSuffix(w[:seen+i], []byte("\r")), true, true
		}
		if len(w) > MaxLine {
			return w[:MaxLine], false, true
		}
		seen = len(w)
		if !in.more() {
			return w, true, len(w) > 0
		}
	}
}

// skipLine moves past the end of the line and gives how many bytes it had beyond the first MaxLine.
func (in *lineInput) skipLine() (beyond int64) {
	n := int64(0)
	for {
		w := in.buf[in.start:in.end]
		if i := bytes.IndexByte(w, '\n'); i >= 0 {
			n += int64(i)
			in.advance(i + 1)
			in.lineNo++
			break
		}
		n += int64(len(w))
		in.advance(len(w))
		if !in.more() {
			break
		}
	}
	return max(0, n-MaxLine)
}

func (in *lineInput) advance(n int) {
	in.start += n
	in.off += int64(n)
}

// Read gives the bytes at the position.
func (in *lineInput) Read(p []byte) (int, error) {
	if in.start == in.end && !in.more() {
		return 0, in.err
	}
	n := copy(p, in.buf[in.start:in.end])
	in.lineNo += bytes.Count(p[:n], newline)
	in.advance(n)
	return n, nil
}

var newline = []byte{'\n'}

// unread puts back bytes that Read gave.
func (in *lineInput) unread(b []byte) {
	if len(b) == 0 {
		return
	}
	in.lineNo -= bytes.Count(b, newline)
	in.off -= int64(len(b))
	if len(b) <= in.start {
		in.start -= len(b)
		copy(in.buf[in.start:], b)
		return
	}
	rest := in.buf[in.start:in.end]
	buf := make([]byte, len(b)+len(rest)+MaxLine)
	copy(buf, b)
	copy(buf[len(b):], rest)
	in.buf, in.start, in.end = buf, 0, len(b)+len(rest)
}

// utf16Reader turns UTF-16, as PowerShell's redirection writes it, into UTF-8.
type utf16Reader struct {
	r    io.Reader
	high bool // big-endian
	in   [4096]byte
	n    int
	out  []byte
	err  error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		var n int
		n, u.err = u.r.Read(u.in[u.n:])
		u.n += n
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) decode() {
	unit := func(i int) rune {
		if u.high {
			return rune(u.in[i])<<8 | rune(u.in[i+1])
		}
		return rune(u.in[i+1])<<8 | rune(u.in[i])
	}
	u.out = u.out[:0]
	i := 0
	for i+2 <= u.n {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if i+4 > u.n && u.err == nil {
				break
			}
			if i+4 <= u.n {
				if pair := utf16.DecodeRune(r, unit(i+2)); pair != utf8.RuneError {
					u.out = utf8.AppendRune(u.out, pair)
					i += 4
					continue
				}
			}
			r = utf8.RuneError
		}
		u.out = utf8.AppendRune(u.out, r)
		i += 2
	}
	u.n = copy(u.in[:], u.in[i:u.n])
}
