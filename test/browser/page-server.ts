/**
 * The built console behind its own server, on a free port. Tests have its API be slow or fail, and
 * plant something into its page.
 *
 * Owns: what stands between that server and the API. Does not own: the server (`cli/console/listener.ts`).
 */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONSOLE_FOLDER, type Settings } from '../../cli/console/files.ts';
import { type ConsoleOptions, consoleListener } from '../../cli/console/listener.ts';

export interface Weather {
  delayMs: number;
  /** What every call is answered with; 0: what the API answers. */
  status: number;
  /** Every second answer has its fields the other way round: DynamoDB gives them in no order. */
  turned: boolean;
  settings: Settings;
}

export interface PageServer {
  readonly url: string;
  /** What stands between the page and the API; each test begins without. */
  readonly weather: Weather;
  /** Requests to the API, as 'GET /agents'. */
  readonly asked: string[];
  /** The page is served changed, until it is calm again. */
  readonly plant: (change: (html: string) => string) => void;
  /** Neither weather nor anything planted. */
  readonly calm: () => void;
  readonly close: () => Promise<void>;
}

const CALM: Weather = {
  delayMs: 0,
  status: 0,
  turned: false,
  settings: { deployment: 'Steadfast-dev', readOnly: false, local: true },
};

/** The API that the server passes calls on to: where it is, or what answers in its place. */
export interface Api {
  readonly url: string;
  readonly fetch: typeof fetch;
}

/** An API that is reached by an address. */
export const behind = (url: string): Api => ({ url, fetch });

/** An API in this process. */
export const answeredBy = (answer: (request: Request) => Promise<Response>): Api => ({
  url: 'http://api',
  fetch: (input, init) => answer(new Request(input, init)),
});

const turnedAround = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turnedAround);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, one]) => [key, turnedAround(one)] as const);
  return Object.fromEntries(fields.toReversed());
};

/** @param more what the server has besides: a login, writes that it tells of */
export async function servePage(api: Api, more: Partial<ConsoleOptions> = {}): Promise<PageServer> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-page-'));
  cpSync(CONSOLE_FOLDER, folder, { recursive: true });
  const page = join(folder, 'index.html');
  const built = readFileSync(page, 'utf8');
  const weather = { ...CALM };
  const asked: string[] = [];
  const between: typeof fetch = async (input, init) => {
    asked.push(`${init?.method} ${String(input).slice(api.url.length)}`);
    const { status, delayMs, turned } = weather;
    if (delayMs > 0) await new Promise((done) => setTimeout(done, delayMs));
    if (status > 0) return Response.json({ message: 'out of order' }, { status });
    const answer = await api.fetch(input, init);
    answers += 1;
    return turned && answers % 2 === 1
      ? Response.json(turnedAround(await answer.json()), { status: answer.status })
      : answer;
  };
  let answers = 0;
  const server = createServer(
    consoleListener({
      folder,
      get settings() {
        return weather.settings;
      },
      upstream: () => ({ url: api.url, fetch: between }),
      ...more,
    }),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/console/`,
    weather,
    asked,
    plant: (change) => writeFileSync(page, change(built)),
    calm: () => {
      Object.assign(weather, CALM);
      writeFileSync(page, built);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(folder, { recursive: true });
    },
  };
}
