/**
 * Kills (-9) every function before and after each of its AWS calls: every execution still ends, and the
 * outside world's ledger has one effect per step, in place or undone, never two.
 */

import { audit } from '../../examples/order-fulfilment/audit.ts';
import { type Answer, inTime, ledgerOf, setStage, type Stage, startStubbornly } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ schedules: true, agentTimeoutS: 6 });
});
afterAll(() => stage.strike());

const AGENTS = ['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer'] as const;
/**
 * The calls to be killed at: read, claim, report, then a read, a send or the end's writes; one more than
 * without faults.
 */
const CALLS = [1, 2, 3, 4] as const;

describe('kill -9 at any moment', () => {
  it('costs no execution its end and doubles no effect', async () => {
    const { control } = stage.cloud;
    const started: Promise<string>[] = [];
    const hits: string[] = [];
    const strikeAt = async (
      name: string,
      moment: { beforeCall: number } | { afterCall: number },
    ): Promise<void> => {
      const { hit } = control.kill(name, moment);
      started.push(startStubbornly(stage, `order-${started.length}`));
      const { outcome, call } = await inTime(
        hit,
        () => `${name} ${JSON.stringify(moment)} after ${hits.join(', ')}`,
      );
      hits.push(`${name} ${Object.keys(moment)[0]} ${call}: ${outcome}`);
    };
    await stage.ended(await stage.startOrder('warm-up'));
    const first = stage.startOrder('first');
    started.push(first);
    await first;
    // The test triggers the tick once, so that it does not wait for its minute; later ticks come by
    // themselves. It does not wait for a tick's end either: a tick stays for a minute while something is due.
    const ring = (): void => void control.tick('supervisor').catch(() => undefined);
    ring();
    for (const call of CALLS) {
      for (const agent of AGENTS) {
        await strikeAt(agent, { beforeCall: call });
        await strikeAt(agent, { afterCall: call });
      }
    }
    for (const call of [1, 2, 3] as const) await strikeAt('scheduler', { beforeCall: call });
    await strikeAt('scheduler', { afterCall: 1 });
    // Dozens of executions wait for it meanwhile.
    for (const moment of [{ beforeCall: 3 }, { afterCall: 4 }]) {
      await inTime(control.kill('supervisor', moment).hit, () => `supervisor ${JSON.stringify(moment)}`);
      ring();
    }
    const ids = await Promise.all(started);
    // One after the other: a process of the scheduler waits for only one, and dozens would have to start.
    const executions: Answer['body'][] = [];
    for (const id of ids) executions.push(await stage.ended(id));
    expect(hits).toHaveLength(CALLS.length * AGENTS.length * 2 + 4);
    expect(hits.filter((hit) => !hit.endsWith(': hit'))).toEqual([]);

    const ledger = await ledgerOf(stage, ids);
    expect(audit(ledger, executions).findings).toEqual([]);
    const statuses = executions.map((execution) => execution.status);
    // Nothing in the outside world went wrong, so nothing may have been given up either.
    expect(statuses.filter((status) => status !== 'succeeded')).toEqual([]);
  });
});
