package simulator

// apply is server-side apply by one manager: fields that it applied before and sends no longer vanish, fields of others
// stay, and lists are replaced whole. It changes the object in place.
func apply(object, last, next Object) {
	for k, before := range last {
		if _, sent := next[k]; !sent {
			retract(object, k, before)
		}
	}
	for k, v := range next {
		sent, isMap := v.(Object)
		if !isMap {
			object[k] = cloneAny(v)
			continue
		}
		child, ok := object[k].(Object)
		if !ok {
			child = Object{}
			object[k] = child
		}
		before, _ := last[k].(Object)
		apply(child, before, sent)
	}
}

// retract a field that is no longer sent. Of a map only what was sent goes, and the map itself when nothing is left.
func retract(object Object, name string, last any) {
	before, wasMap := last.(Object)
	child, isMap := object[name].(Object)
	if !wasMap || !isMap {
		delete(object, name)
		return
	}
	for k, v := range before {
		retract(child, k, v)
	}
	if len(child) == 0 {
		delete(object, name)
	}
}
