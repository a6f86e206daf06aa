/**
 * A clock that differs too much from the store's is logged, at most rarely and never wrongly. It is detected
 * without extra calls.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DescribeTableCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { CLOCK_ALLOWANCE_MS, ClockSkew } from '../../lib/aws/clock-skew.ts';
import { TRANSPORTS } from '../../lib/aws/names.ts';
import { transported } from '../../lib/aws/transport.ts';
import type { Note } from '../../lib/core/decisions/decision.ts';

const NOW = Date.parse('2026-11-22T14:00:00Z');
const MINUTE = 60_000;

function skewed() {
  const notes: Note[] = [];
  return { notes, skew: new ClockSkew({ note: (note) => notes.push(note) }) };
}
/** The store's clock, in whole seconds. */
const dateAt = (at: number): string => new Date(at).toUTCString();

describe('a clock', () => {
  it('that is wrong by no more than is allowed, or may be right, is not reported', () => {
    const { notes, skew } = skewed();
    // Ahead by the header's second and the allowance; behind by the duration of the call and the allowance.
    skew.measure(NOW + 1_000 + CLOCK_ALLOWANCE_MS, NOW + 9_000, dateAt(NOW));
    skew.measure(NOW - 9_000, NOW - CLOCK_ALLOWANCE_MS, dateAt(NOW));
    expect(notes).toEqual([]);
  });

  it('that is further off is reported, with the certain part of the difference', () => {
    const ahead = skewed();
    ahead.skew.measure(NOW + 1_001 + CLOCK_ALLOWANCE_MS, NOW + 9_000, dateAt(NOW));
    expect(ahead.notes).toEqual([{ what: 'clock-skewed', detail: 'ahead', ms: CLOCK_ALLOWANCE_MS + 1 }]);
    const behind = skewed();
    behind.skew.measure(NOW - 9_000, NOW - CLOCK_ALLOWANCE_MS - 1, dateAt(NOW));
    expect(behind.notes).toEqual([{ what: 'clock-skewed', detail: 'behind', ms: CLOCK_ALLOWANCE_MS + 1 }]);
  });

  it('is measured once a minute and reported once a quarter of an hour', () => {
    const { notes, skew } = skewed();
    let measurements = 0;
    for (let at = NOW; at < NOW + 30 * MINUTE; at += 1_000) {
      if (!skew.isDue(at)) continue;
      measurements += 1;
      skew.measure(at, at, dateAt(at - 60_000));
    }
    expect(measurements).toBe(30);
    expect(notes).toHaveLength(2);
  });

  it('is not measured by a header that is not a date, which costs no turn', () => {
    const { notes, skew } = skewed();
    for (const date of [undefined, '', 'yesterday']) skew.measure(NOW, NOW, date);
    expect(skew.isDue(NOW)).toBe(true);
    expect(notes).toEqual([]);
  });
});

describe('the store’s answers', () => {
  let server: Server;
  let endpoint: string;

  beforeAll(async () => {
    server = createServer((_request, response) => {
      // The server's date is an hour ago, whatever the machine's clock shows.
      response.sendDate = false;
      response.setHeader('date', dateAt(Date.now() - 3_600_000));
      response.end('{}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };

  it.each(TRANSPORTS)('say it, whichever the call (%s)', async (transport) => {
    for (const command of [
      new DescribeTableCommand({ TableName: 't' }),
      new GetItemCommand({ TableName: 't', Key: { pk: { S: 'a' } } }),
    ]) {
      const { notes, skew } = skewed();
      const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
      await transported(client, { transport, skew }).send(command as GetItemCommand);
      expect(notes).toMatchObject([{ what: 'clock-skewed', detail: 'ahead' }]);
      expect(notes[0]?.ms).toBeGreaterThan(3_500_000);
    }
  });
});
