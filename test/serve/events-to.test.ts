/** Events sent to the receiver of `--events-to`: by a server, and which URLs and secrets are refused. */

import { eventTarget } from '../../serve/signed-event.ts';
import { type Answered, receiverOf } from './receiver.ts';
import { clientOf, servedWith, testServer, type TestServer } from './served.ts';

const SECRET = `whsec_${Buffer.from('a'.repeat(32)).toString('base64')}`;

async function receiver(answers: () => Answered = () => 204) {
  const made = await receiverOf((body, header) => ({ id: header('webhook-id'), body }), answers);
  return { ...made, to: eventTarget(`${made.origin}/hooks?token=secret`, SECRET) };
}

describe('a server', () => {
  let world: TestServer;
  beforeEach(() => {
    world = testServer();
  });
  afterEach(() => world.end());
  const served = servedWith(async (input) => ({ text: input.text }));

  it('ends executions while nobody takes their events, and the next one sends them', async () => {
    const mute = await receiver(() => 'nothing');
    const first = await world.start({ served, eventsTo: mute.to, stopWithinMs: 0 });
    const ids: string[] = [];
    for (const name of ['Ada', 'Grace']) {
      const { executionId } = await clientOf(first).start('greeting', { input: { text: name } });
      expect((await clientOf(first).get(executionId, { wait: '20s' })).status).toBe('succeeded');
      ids.push(executionId);
    }
    await mute.count(1);
    await first.stop();
    mute.end();
    const hearing = await receiver();
    await world.start({ served, eventsTo: hearing.to });
    await hearing.count(2);
    hearing.end();
    const received = hearing.came.map(({ body }) => JSON.parse(body) as { detail: { executionId: string } });
    expect(received.map(({ detail }) => detail.executionId)).toEqual(ids);
    expect(hearing.came.map(({ id }) => id)).toContain(mute.came[0]?.id);
  });
});

it.each([
  ['no URL', 'hooks', SECRET, 'begins with https:// or http://'],
  ['another protocol', 'ftp://example.com', SECRET, 'begins with https:// or http://'],
  ['a password', 'https://a:b@example.com', SECRET, 'no name or password'],
  ['no secret', 'https://example.com', undefined, 'needs STEADFAST_EVENTS_SECRET'],
  ['a secret that is no base64', 'https://example.com', 'whsec_a-b_c', 'what follows is not base64'],
  ['a short secret', 'https://example.com', 'whsec_c2hvcnQ=', '24 bytes or more'],
])('%s is refused', (_, url, secret, message) => {
  expect(() => eventTarget(url, secret)).toThrow(message);
});

it('a secret that a file ends with a line is the same', () => {
  expect(eventTarget('https://example.com', `${SECRET}\n`)).toEqual(
    eventTarget('https://example.com', SECRET),
  );
});
