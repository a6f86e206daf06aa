#!/usr/bin/env node
/** The command line, `npx steadfast`: first the version of Node, then what an old one could not even read. */
'use strict';

require('./node-version.cjs');
require('./command-line.cjs');
