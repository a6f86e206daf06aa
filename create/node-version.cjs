/**
 * Says in one sentence that Node is too old, before anything is loaded that an old Node cannot read.
 * Loading this file is the check. A copy of `bin/node-version.cjs`, since this package has no other
 * of ours; a test compares them.
 *
 * In the language of 2009, and free of imports: whatever runs it must understand it.
 */
'use strict';

/** As `engines` in package.json says. */
var NEEDED = '20.19.0';

/** @returns what to do about it, or nothing where the version is good. */
function problemWith(version) {
  var is = version.split('.').map(Number);
  var needed = NEEDED.split('.').map(Number);
  var isOld = is[0] < needed[0] || (is[0] === needed[0] && is[1] < needed[1]);
  if (!isOld) return undefined;
  return (
    'Steadfast needs Node ' +
    NEEDED +
    ' or newer, and this is Node ' +
    version +
    ': install a newer one ' +
    '(https://nodejs.org, or for example `nvm install 22`), then run the command again.'
  );
}

module.exports = { NEEDED: NEEDED, problemWith: problemWith };

var problem = problemWith(process.versions.node);
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}
