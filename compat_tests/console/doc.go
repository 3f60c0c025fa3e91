// Package console tests the console of a cqld in a real browser, Chromium. It is a separate
// module, so that cqld's module does not require a client of browsers.
//
// The tests build and start cqld. Without a browser they are skipped, and say so. They write screenshots of each page
// to the folder in CONSOLE_SCREENSHOTS, or else to a temporary one.
package console
