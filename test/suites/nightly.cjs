/** The filter of `npm run test:nightly`. */
module.exports = require('./suites.cjs').only('nightly');
