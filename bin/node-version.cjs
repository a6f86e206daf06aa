/**
 * Says in one sentence that Node is too old, before anything is loaded that an old Node cannot read. Loading
 * this file is the check; `npm start`, `npm test`, `npm run demo` and `npx steadfast` begin with it.
 *
 * Written in ES5 without imports, so that every Node can run it.
 */
'use strict';

/** The same version as `engines` in package.json. */
var NEEDED = '20.19.0';

/** @returns a sentence about what to do, or nothing if the version is new enough */
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
