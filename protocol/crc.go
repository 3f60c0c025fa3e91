package protocol

import "hash/crc32"

// Segments have two checksums: a CRC24 of their header and a CRC32 of their payload.

// crc24Table has the CRC24 of every byte, with the polynomial 0x1974F0B.
var crc24Table = func() (table [256]uint32) {
	for i := range table {
		crc := uint32(i) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1974F0B
			}
		}
		table[i] = crc & 0xffffff
	}
	return table
}()

// crc24 takes the header's bytes in the order they are sent.
func crc24(b []byte) uint32 {
	crc := uint32(0x875060)
	for _, c := range b {
		crc = crc<<8&0xffffff ^ crc24Table[byte(crc>>16)^c]
	}
	return crc
}

// crc32Seed is the checksum of four bytes that Cassandra puts before every payload, so that a payload of
// zeros has none of zero. The specification does not mention them.
var crc32Seed = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

func crc32Payload(b []byte) uint32 { return crc32.Update(crc32Seed, crc32.IEEETable, b) }
