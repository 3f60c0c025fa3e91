package server

// Next returns the number that a node has which is added next.
func (r *Ring) Next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last + 1
}
