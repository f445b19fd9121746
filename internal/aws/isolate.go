package aws

// An outcome is what a call found for one name.
type outcome[T any] struct {
	value   T
	failure *failure
}

// flat is what was found for names that were read together: the failure of the call, or else what it says of each.
func flat[T any](found map[string]outcome[outcome[T]]) map[string]outcome[T] {
	out := make(map[string]outcome[T], len(found))
	for n, o := range found {
		if o.failure != nil {
			o.value = outcome[T]{failure: o.failure}
		}
		out[n] = o.value
	}
	return out
}

// isolate reads names together. When AWS refuses the names themselves it halves them until the bad one stands alone, so
// that one pool's name does not cost the others their answer. So it does when the answer is too large.
func isolate[T any](names []string, read func([]string) (map[string]T, *failure)) map[string]outcome[T] {
	out := make(map[string]outcome[T], len(names))
	left := maxSplits
	for queue := [][]string{names}; len(queue) > 0; queue = queue[1:] {
		part := queue[0]
		values, f := read(part)
		if f != nil && (f.badInput || f.tooLarge) && len(part) > 1 && left >= 2 {
			left -= 2
			queue = append(queue, part[:len(part)/2], part[len(part)/2:])
			continue
		}
		for _, n := range part {
			out[n] = outcome[T]{value: values[n], failure: f}
		}
	}
	return out
}
