/**
 * A service that does not deduplicate: each request adds one stamp.
 *
 * Owns: the counts, and the moments at which a caller's death hurts most: it waits before it stamps, and
 * before it answers.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Draws } from '../../../kit/cloud/random.ts';

export interface Stamps {
  readonly url: string;
  /** Stamps by effect key. */
  readonly counts: ReadonlyMap<string, number>;
  /** When a stamp or a probe calls it next. */
  readonly nextCall: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const LONGEST_MS = 150;

export async function startStamps(draws: Draws): Promise<Stamps> {
  const counts = new Map<string, number>();
  const waiting: ((at: number) => void)[] = [];
  const server = createServer((request, response) => {
    for (const called of waiting.splice(0)) called(Date.now());
    const key = request.url ?? '';
    const answer = (): void => void response.end(JSON.stringify({ stamps: counts.get(key) ?? 0 }));
    if (request.method !== 'POST') return answer();
    void (async () => {
      await setTimeout(draws.between(0, LONGEST_MS));
      counts.set(key, (counts.get(key) ?? 0) + 1);
      await setTimeout(draws.between(0, LONGEST_MS));
      answer();
    })();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', () => ready()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    nextCall: () => new Promise((called) => waiting.push(called)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
