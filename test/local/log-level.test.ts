/** Which lines Lambda drops because of a function's application log level. */
import { isWritten } from '../../local/lambda/log-level.ts';

const METRIC = '{"_aws":{"Timestamp":1,"CloudWatchMetrics":[]},"Started":1}';

test.each([
  [METRIC, undefined, true],
  [METRIC, 'INFO', true],
  [METRIC, 'WARN', false],
  [METRIC, 'ERROR', false],
  ['{"level":"WARN","message":"x"}', 'WARN', true],
  ['{"level":"warn","message":"x"}', 'ERROR', false],
  ['{"level":"CRITICAL","message":"x"}', 'FATAL', true],
  ['{"level":30,"message":"a number is none"}', 'WARN', false],
  ['{"level":"DEBUG","message":"x"}', 'INFO', false],
  ['text', 'WARN', false],
  ['{no json', 'WARN', false],
] as const)('%s at %s: %s', (line, least, written) => {
  expect(isWritten(least, 'stdout', line)).toBe(written);
});

test('what goes to the standard error is an error', () => {
  expect(isWritten('ERROR', 'stderr', 'Error: x')).toBe(true);
});
