package aws

import "bytes"

// A shape is how many elements an XML document has, as far as it was read. Bytes alone do not bound a document: an item
// of seven of them, <item/>, is an instance of seven hundred once it is decoded.
type shape struct {
	elements int
	// large are the elements that are large once they are decoded, by how deep they are.
	large int
	depth int

	// inTag says that what comes next belongs to tag, which is what was read since a <.
	inTag bool
	tag   []byte
	// quote is what ends the value of an attribute, in which a > may be; 0 outside of one.
	quote byte
}

// add what was read next. Elements down to the depth largeTo count as large ones.
func (s *shape) add(b []byte, largeTo int) error {
	for len(b) > 0 {
		if !s.inTag {
			i := bytes.IndexByte(b, '<')
			if i < 0 {
				return nil
			}
			b, s.inTag, s.tag = b[i+1:], true, s.tag[:0]
			continue
		}
		ends, err := s.addToTag(b[0])
		if err == nil && ends {
			err = s.note(largeTo)
		}
		if err != nil {
			return err
		}
		b = b[1:]
	}
	return nil
}

// addToTag says whether the tag ends.
func (s *shape) addToTag(c byte) (bool, error) {
	mark, end := s.section()
	switch {
	case c == '>' && s.quote == 0 && len(s.tag) >= len(mark)+len(end) && bytes.HasSuffix(s.tag, []byte(end)):
		s.inTag = false
		return true, nil
	case c == '<' && mark == "", len(s.tag) == maxTagBytes:
		return false, &notWholeError{err: errNotWhole}
	case mark != "":
		// A quote means nothing in it.
	case s.quote == 0 && (c == '"' || c == '\''):
		s.quote = c
	case s.quote == c:
		s.quote = 0
	}
	s.tag = append(s.tag, c)
	return false, nil
}

// section returns how the tag begins and ends when it may hold < and >: a comment, CDATA or a processing instruction.
func (s *shape) section() (mark, end string) {
	if len(s.tag) == 0 || s.tag[0] != '?' && s.tag[0] != '!' {
		return "", ""
	}
	for _, section := range [...][2]string{{"?", "?"}, {"!--", "--"}, {"![CDATA[", "]]"}} {
		if mark = section[0]; len(s.tag) >= len(mark) && string(s.tag[:len(mark)]) == mark {
			return mark, section[1]
		}
	}
	return "", ""
}

// note a tag that was read to its end.
func (s *shape) note(largeTo int) error {
	mark, _ := s.section()
	switch {
	case mark != "":
		return nil
	case len(s.tag) == 0, s.tag[0] == '!':
		// No element. AWS's answers have no document type, which can be of any size.
		return &notWholeError{err: errNotWhole}
	case s.tag[0] == '/':
		s.depth--
		return nil
	}
	s.elements++
	if s.depth < largeTo {
		s.large++
	}
	if s.tag[len(s.tag)-1] != '/' {
		s.depth++
	}
	if s.elements > maxElements || s.large > maxLargeElements {
		return errTooLarge
	}
	if s.depth > maxDepth {
		return &notWholeError{err: errNotWhole}
	}
	return nil
}
