package types

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types/json"
)

// inetType is an IP address of 4 or 16 bytes. Addresses sort as bytes, the two families mixed.
type inetType struct{ byteString }

// Validate takes 4 bytes, 16 or none.
func (*inetType) Validate(b []byte) error {
	switch len(b) {
	case 0, 4, 16:
		return nil
	}
	return invalidf("Expected 4 or 16 byte inetaddress; got %s", hex.EncodeToString(b))
}

// ParseLiteral takes an address as Java reads it; it never looks up a host.
func (*inetType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != StringLiteral {
		return nil, ErrKind
	}
	if text == "" {
		return []byte{}, nil
	}
	addr, ok := parseInet(text)
	if !ok {
		return nil, invalidf("Unable to make inet address from '%s'", text)
	}
	return EncodeInet(addr), nil
}

// parseInet reads an address as Java does. Host names are not looked up, except the one that is the same
// everywhere.
func parseInet(text string) (netip.Addr, bool) {
	if text == "localhost" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
		if !strings.Contains(text, ":") {
			return netip.Addr{}, false
		}
	}
	if !strings.Contains(text, ":") {
		return parseIPv4(text)
	}
	text, zone, zoned := strings.Cut(text, "%")
	if _, err := strconv.ParseUint(zone, 10, 31); zoned && err != nil {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(text)
	return addr, err == nil
}

// parseIPv4 reads up to four numbers, of which the last fills the bytes that are left: 1.2.3 is 1.2.0.3.
func parseIPv4(text string) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	address := uint64(0)
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, 10, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		address = address<<bits | n
	}
	return netip.AddrFrom4([4]byte{
		byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address),
	}), true
}

// Format prints the address in single quotes, null for the empty value.
func (*inetType) Format(b []byte) string {
	if len(b) == 0 {
		return noLiteral
	}
	return quote.Text(FormatInet(b))
}

// ParseJSON takes a string with an address.
func (*inetType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(Inet, v, "a string representation of an inet value")
}

// AppendJSON prints the address as a string.
func (*inetType) AppendJSON(dst, b []byte) []byte {
	return appendJSONQuoted(dst, Inet, b)
}

// FormatInet prints an address as Java does: IPv6 as eight groups, none left out, but as IPv4 if it is such a one.
func FormatInet(b []byte) string {
	if addr := DecodeInet(b).Unmap(); !addr.Is6() {
		return addr.String()
	}
	groups := make([]string, 8)
	for i := range groups {
		groups[i] = strconv.FormatUint(uint64(b[2*i])<<8|uint64(b[2*i+1]), 16)
	}
	return strings.Join(groups, ":")
}

// EncodeInet encodes an address; an IPv4 address in IPv6 form has 4 bytes.
func EncodeInet(v netip.Addr) []byte { return v.Unmap().AsSlice() }

// DecodeInet reads a valid inet; the empty value is the zero Addr.
func DecodeInet(b []byte) netip.Addr {
	addr, _ := netip.AddrFromSlice(b)
	return addr
}
