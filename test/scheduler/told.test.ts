/** Announcements of incidents: each change, without people's texts, repeated after an outage of the bus. */

import { PermanentError } from '../../lib/core/values/errors.ts';
import { askPerson, workflow } from '../../lib/author/builder/workflow.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

const asking = workflow('asking', { input: anyObject, within: '10d' }, (w) => {
  w.step('asked', anAgent('worker'), {}, { recovery: [askPerson({ within: '1h' })] });
});
const execute = async (): Promise<never> => {
  throw new PermanentError('secret');
};
const stuck = () => harness(asking, { worker: { execute, undo: async () => undefined } });

it('is announced when it is opened and when it is resolved, and again once a bus that was away is back', async () => {
  const h = stuck();
  const { id } = await h.begin();
  await h.run(id, { until: ({ questions }) => questions !== undefined });
  const openedAt = h.clock.now();
  const deadlineAt = openedAt + 3_600_000;
  const question = { about: 'question', executionId: id, workflow: 'asking', incident: 1, kind: 'recovery' };
  const about = {
    step: 'asked',
    openedAt,
    deadlineAt,
    otherwise: 'undo-all',
    reminders: 0,
    code: 'PermanentError',
  };
  const view = `/executions/${id}`;
  expect(h.questionNews).toEqual([{ ...question, ...about, change: 'opened', at: openedAt, view }]);
  const away = { announce: () => Promise.reject(new Error('away')) };
  const scheduler = { ...h.scheduler, ports: { ...h.scheduler.ports, announcer: away } };
  await resolveIncident(scheduler, id, { incident: 1, choice: 'keep', reason: 'secret' });
  expect(h.notes).toContainEqual({ what: 'not-announced', executionId: id, step: 'asked', detail: 'Error' });
  await h.run(id);
  expect(h.questionNews.at(-1)).toMatchObject({ change: 'closed', choice: 'keep', closedBy: 'answer' });
  const other = await h.begin({}, 'k2');
  await h.run(other.id, { until: ({ questions }) => questions !== undefined });
  const by = { kind: 'local', name: 'ann' } as const;
  await resolveIncident(h.scheduler, other.id, { incident: 1, choice: 'keep', reason: 'secret', by });
  const resolved = { change: 'closed', choice: 'keep', closedBy: 'answer', caller: by, at: h.clock.now() };
  expect(h.questionNews.at(-1)).toMatchObject({ ...question, executionId: other.id, ...resolved });
  expect(JSON.stringify(h.questionNews)).not.toContain('secret');
});
