// __imports__
import { crashEverywhere, testWorkflow } from 'steadfast/testing';
import { handler as compose } from '../__folder__/hello-greeting/agents/compose-greeting__ending__';
import { handler as post } from '../__folder__/hello-greeting/agents/post-greeting__ending__';
import { type PostOffice, startPostOffice } from '../__folder__/hello-greeting/post-office__ending__';
import { helloGreeting, postGreeting } from '../__folder__/hello-greeting/workflow__ending__';

const agents = [compose, post];
let office: PostOffice;

beforeAll(async () => {
  office = await startPostOffice();
  process.env['POST_OFFICE_URL'] = office.url;
});
afterAll(() => office.stop());

test('a greeting is posted once, although its agent was killed after it had posted it', async () => {
  const trial = testWorkflow(helloGreeting, { agents });
  trial.kill(postGreeting, { when: 'after' });
  const run = await trial.start({ name: 'Ada' });
  const { status, steps } = await run.waitForEnd();
  expect(status).toBe('succeeded');
  expect(steps['post']?.history.map(({ mode, outcome }) => `${mode}: ${outcome}`)).toEqual([
    'execute: unknown',
    'probe: done',
  ]);
  // Every idempotency key of a run begins with the run's id.
  expect(office.letters().filter(({ key }) => key.startsWith(run.id))).toHaveLength(1);
});

test('a fault at any point loses and doubles no greeting', async () => {
  const effects = async () => office.letters();
  const report = await crashEverywhere(helloGreeting, { input: { name: 'Ada' }, agents, effects });
  // The text says what was found, where, and how to run that fault alone.
  expect(report.findings.length === 0 ? '' : report.text).toBe('');
  expect(report.ends).toEqual({ succeeded: report.runs + 1 });
}, 60_000);
