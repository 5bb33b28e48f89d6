#!/usr/bin/env node
// From Node 22 on, what V8 made of the code at the first start is kept for the next ones.
require('node:module').enableCompileCache?.()
require('../dist/main.js')
