/** With a fault at every point, no round is lost or doubled, or leaves an effect that should be undone. */

import { PermanentError } from 'steadfast';
import { crashEverywhere } from 'steadfast/testing';
import { check, copier, copying } from './rounds.ts';

describe('rounds', () => {
  it('survive a crash everywhere', async () => {
    const { agents, world } = copier();
    const report = await crashEverywhere(copying, { input: {}, agents, world, slowest: '1s' });
    expect(report.findings).toEqual([]);
  });

  it('survive a crash everywhere on the way back', async () => {
    const { agents, world } = copier();
    const report = await crashEverywhere(copying, {
      input: {},
      agents,
      world,
      slowest: '1s',
      scenario: (trial, given) => {
        trial.fail(check, { times: Infinity, with: new PermanentError('no') });
        return trial.start(given);
      },
    });
    expect(report.findings).toEqual([]);
  });
});
