/** Log lines of agents that share a process: one that fills its log costs no other its lines. */

import { Lines } from '../../lib/worker/isolated-lines.ts';

/** Lines of one call, as messages. */
function linesOf(agent: string): { readonly sent: string[]; readonly lines: Lines } {
  const sent: string[] = [];
  return { sent, lines: new Lines(agent, (said) => void ('message' in said && sent.push(said.message))) };
}

it('drops those of the agent that sends too many, in each of its calls, and of no other', () => {
  const [noisy, again, calm] = [linesOf('noisy'), linesOf('noisy'), linesOf('calm')];
  for (let at = 0; at < 10_000; at += 1) (at % 2 === 0 ? noisy : again).lines.log('info', `line ${at}`);
  calm.lines.log('info', 'the only one');
  expect(noisy.sent.length + again.sent.length).toBeLessThan(6_000);
  expect(calm.sent).toEqual(['the only one']);
  noisy.lines.end();
  expect(noisy.sent.at(-1)).toBe('log-lines-dropped');
});
