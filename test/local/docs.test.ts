import { readFileSync } from 'node:fs';
import { CONTROL_CALLS } from '../../local/control/control-http.ts';

// From `curl -X POST $L/functions/x/kill` to the key of the call, with a star for the name.
function callOf(line: string): string {
  const method = /-X ([A-Z]+)/.exec(line)?.[1] ?? (line.includes(' -d ') ? 'POST' : 'GET');
  const [group = '', name, verb] = (/\$L\/(\S+)/.exec(line)?.[1] ?? '').split('/');
  return `${method} ${[group, name === undefined ? undefined : '*', verb].filter((part) => part !== undefined).join('/')}`;
}

test('docs/LOCAL-CLOUD.md has a curl line for every control call, and none for calls that do not exist', () => {
  const text = readFileSync(new URL('../../docs/LOCAL-CLOUD.md', import.meta.url), 'utf8');
  const documented = [...text.matchAll(/`(curl [^`]*\$L\/[^`]*)`/g)].map((match) => callOf(match[1] ?? ''));
  expect(new Set(documented)).toEqual(new Set(CONTROL_CALLS));
});
