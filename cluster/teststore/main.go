package main

import _ "github.com/pingcap/tidb/store/mockstore/unistore/server"

func main() {}
