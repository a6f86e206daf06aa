/** The filter of `npm test`. */
module.exports = require('./suites.cjs').only('logic');
