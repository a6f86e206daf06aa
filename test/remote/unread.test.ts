/** Ids that would be rounded in the answer of a remote, and a remote that takes connections and is silent. */

import { gives, type Service, startService } from '../ready/service.ts';
import { connecting, startSilent } from '../ready/silent.ts';
import { type CallKind, performed } from './performed.ts';

let service: Service;
beforeAll(async () => {
  service = await startService(gives(200));
});
afterAll(() => service.stop());

const answered = (answer: string, call: CallKind = 'execute') => {
  service.answer = gives(200, answer);
  return performed({ url: service.url }, { call, acceptedWithin: '1h' });
};
const BIG = '12345678901234567890';

describe('S6 an answer with a whole number that would be rounded', () => {
  it('is no output, and says what to send', async () => {
    const report = await answered(`{"answer":"done","output":{"code":"P1","id":[1,${BIG}]}}`);
    expect(report).toMatchObject({
      kind: 'unknown',
      failure: {
        code: 'unsafe-number',
        message: expect.stringMatching(/a whole number in the output .* the service must send it as text/),
      },
    });
    expect(JSON.stringify(report)).not.toContain('1234567890');
    const probe = await answered(`{"answer":"done","output":{"code":"P1","id":-${BIG}}}`, 'probe');
    expect(probe).toMatchObject({ kind: 'found', verdict: 'cannot-tell' });
  });

  it.each<[string, CallKind, string, object]>([
    ['in a text', 'execute', `{"answer":"done","output":{"code":"${BIG}"}}`, { output: { code: BIG } }],
    ['beside the output', 'execute', `{"id":${BIG},"answer":"done","output":{"code":"P"}}`, { kind: 'done' }],
    ['of an undo', 'undo', `{"answer":"done","output":${BIG}}`, { kind: 'compensated' }],
    ['of what was not done', 'execute', `{"answer":"permanent","output":${BIG}}`, { permanent: true }],
  ])('does not matter where it is not read: %s', async (_, call, answer, report) => {
    expect(await answered(answer, call)).toMatchObject(report);
  });
});

it('S6 a connection that is not made within ten seconds is none, and nothing was sent', async () => {
  const silent = await startSilent();
  const report = await connecting((signal) => performed({ url: silent.url }, { signal }));
  silent.stop();
  expect(report).toMatchObject({
    kind: 'failed',
    permanent: false,
    failure: { message: expect.stringMatching(/nothing was sent.*no connection within 10000 ms/) },
  });
});
