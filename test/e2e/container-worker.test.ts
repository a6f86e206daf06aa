/**
 * A container's worker on the local cloud, with the code of its image: it lets an attempt finish, and when it
 * is killed, the next worker does its work. Real processes. Slower tests: `container-worker.nightly.test.ts`.
 */

import { measuredBy } from '../../local/metrics/embedded.ts';
import { dead, exited, setWorkerStage, wordsOf, type WorkerStage } from './worker-stage.ts';

let stage: WorkerStage;
beforeAll(async () => {
  stage = await setWorkerStage();
});
afterAll(() => stage?.strike());

describe('a worker', () => {
  it('that is asked to stop lets an attempt finish', async () => {
    const worker = stage.start('encode', { STEADFAST_STOP_WITHIN_MS: '20000' });
    const run = await stage.begin('encode-video', { ms: 1_500 });
    await run.line('begun');
    const exit = exited(worker);
    worker.process.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(wordsOf(run)).toEqual(['begun 1', 'done 1']);
    expect((await run.ended()).status).toBe('succeeded');
    // The local cloud reads its measurements line by line.
    const names = stage.said.flatMap(measuredBy).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Attempts', 'StepsDone']));
  });

  it('that is killed takes its attempts along, and the supervisor finds what it left', async () => {
    const worker = stage.start('encode');
    const run = await stage.begin('encode-video', { ms: 600_000 });
    const { pid } = await run.line('begun');
    worker.process.kill('SIGKILL');
    await dead(pid);
    await stage.doneByAnother(run);
  });

  it('asks for nothing that its task may not do', () => {
    expect(stage.denied).toEqual([]);
  });
});
