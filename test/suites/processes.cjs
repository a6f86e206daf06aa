/** The filter of `npm run test:processes`. */
module.exports = require('./suites.cjs').only('processes');
