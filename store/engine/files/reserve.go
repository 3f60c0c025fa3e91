package files

// Reserve is how much of a volume writes leave free: a share of it, or a number of bytes.
type Reserve struct {
	Percent float64
	Most    int64 // bytes that the share is at most; 0: any number
	Bytes   int64 // instead of a share
}

// Of is the reserve on a volume of so many bytes.
func (r Reserve) Of(volume int64) int64 {
	if r.Percent == 0 {
		return r.Bytes
	}
	share := int64(float64(volume) / 100 * r.Percent)
	if r.Most > 0 {
		share = min(share, r.Most)
	}
	return share
}
