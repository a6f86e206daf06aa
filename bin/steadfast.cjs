#!/usr/bin/env node
/** The command line, `npx steadfast`: checks Node's version before it loads code that an old one rejects. */
'use strict';

require('./node-version.cjs');
require('./command-line.cjs');
