/**
 * Calls the API for the page, at `api/` beside the page's address.
 *
 * Owns: each request's token, its caller's name on a local API, the server's settings, and the calls that the
 * console's server answers itself. Does not own: the API's calls and their errors (`lib/api/client.ts`).
 */

import { signal } from '@preact/signals';
import { ApiError, AS_HEADER, AS_NAME, type Client, createClient } from '../lib/api/client.ts';
import { withShortIds } from '../lib/api/short-ids.ts';
import { serverTime } from './clock.ts';
import type { ShownCharts } from '../lib/view/shown-charts.ts';

const metaOf = (name: string): string =>
  document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';

export interface Settings {
  readonly deployment: string;
  /** Whether the page shows no actions and the server refuses every write. */
  readonly readOnly: boolean;
  /** Whether the API runs on this machine, not on AWS. */
  readonly local: boolean;
  /** Whether the server reports each write at once. */
  readonly tellsWrites: boolean;
  /** Whether the server can read log lines. */
  readonly hasLogs: boolean;
  /** Whether the server can read metrics. */
  readonly hasCharts: boolean;
}

function settingsOf(text: string): Settings {
  const unknown = {
    deployment: 'unknown',
    readOnly: false,
    local: true,
    tellsWrites: false,
    hasLogs: false,
    hasCharts: false,
  };
  try {
    return { ...unknown, ...(JSON.parse(text) as Partial<Settings>) };
  } catch {
    return unknown;
  }
}

export const settings: Settings = settingsOf(metaOf('steadfast-settings'));

const token = metaOf('steadfast-token');

const AS_KEY = 'steadfast-as';

/** Removes the characters that a name may not have. */
const nameIn = (text: string): string =>
  Array.from(text)
    .filter((one) => AS_NAME.test(one))
    .join('')
    .slice(0, 64);

const as = signal(settings.local ? nameIn(sessionStorage.getItem(AS_KEY) ?? '') : '');

/**
 * The name under which this tab calls an API on this machine; '' for none. Each tab has its own, because two
 * people may use one browser.
 */
export const calledAs = {
  get value(): string {
    return as.value;
  },
  set value(text: string) {
    as.value = nameIn(text);
    sessionStorage.setItem(AS_KEY, as.value);
  },
};

const withToken: typeof fetch = (input, init) =>
  fetch(input, {
    ...init,
    credentials: 'same-origin',
    redirect: 'error',
    headers: {
      ...(init?.headers as Record<string, string> | undefined),
      ...(as.peek() === '' ? {} : { [AS_HEADER]: as.peek() }),
      'x-steadfast-console': token,
    },
  });

export const api: Client = withShortIds(
  createClient({ url: new URL('api', location.href).href, fetch: serverTime.through(withToken) }),
);

/**
 * Waits until there is a write, for a limited time.
 * @param known the last known count of writes
 * @returns the current count
 */
export async function writesPast(known: number): Promise<number | 'forbidden'> {
  const answer = await withToken(`writes?known=${known}`);
  if (answer.status === 403) return 'forbidden';
  return ((await answer.json()) as { readonly writes: number }).writes;
}

export interface LogLines {
  readonly lines: readonly LogLine[];
  /** Whether earlier lines were left out of this answer. */
  readonly isCut: boolean;
  /** Bytes that CloudWatch Logs scanned. */
  readonly scannedBytes?: number;
  /** Whether these lines are added to the earlier ones of this reading. */
  readonly isMore?: true;
}

/** The parts of a line, as texts; '' for a missing part. */
export interface LogLine {
  readonly at: number;
  readonly level: string;
  readonly executionId: string;
  readonly who: string;
  readonly step: string;
  readonly attempt: string;
  readonly message: string;
  readonly rest: string;
}

/**
 * @param follow the id of the reading; the server continues after the last line that it sent
 * @throws ApiError if the API refuses, or if lines cannot be read
 */
export async function logLines(
  id: string,
  level: string,
  children: boolean,
  follow: string,
): Promise<LogLines> {
  const query = new URLSearchParams({ level, follow, ...(children ? { children: 'true' } : {}) });
  return ownAnswer(`logs/${encodeURIComponent(id)}?${query}`);
}

/** @throws ApiError if the API refuses, or if metrics cannot be read */
export const readCharts = (): Promise<ShownCharts> => ownAnswer('charts');

/** Calls the console's own server instead of the API. */
async function ownAnswer<T>(path: string): Promise<T> {
  const answer = await withToken(path).catch(() => undefined);
  if (answer === undefined) throw new ApiError('no-answer', 'the server behind this page does not answer');
  const body = (await answer.json()) as T & { error?: { code: string; message: string } };
  if (body.error === undefined) return body;
  throw new ApiError(body.error.code, body.error.message, { status: answer.status });
}

/** Whether the error is a refusal by the API, and so shows that the API is reachable. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof ApiError && error.status !== undefined && ANSWERS.has(error.status);
const ANSWERS: ReadonlySet<number> = new Set([400, 404, 409]);

/** Describes an error, with advice. */
export function problemOf(error: unknown): { readonly what: string; readonly todo: string } {
  if (!(error instanceof ApiError)) return { what: String(error), todo: 'Reload the page.' };
  return { what: `${error.code}: ${error.message}`, todo: ADVICE[error.code] ?? '' };
}

const ADVICE: Readonly<Record<string, string>> = {
  'no-answer':
    'The server behind this page does not answer. Start it again; the page then continues by itself.',
  unavailable: 'The page reads it again in a moment.',
  forbidden: 'This page belongs to an earlier server, or your credentials have expired: open it again.',
  'not-steadfast': 'Another program answers here: check which program serves this page.',
  'not-allowed': 'Your credentials need cloudwatch:GetMetricData.',
  'no-credentials': 'Log in to AWS again, in the shell that serves this page.',
  'no-region': 'Run npx steadfast console with --region.',
  'bad-request': 'Change a filter, or the address of the page.',
  'bad-cursor': 'The list has no such page. Open the view again: it begins with the first page.',
  'unknown-execution': 'Check the id. Executions are removed some time after they end.',
  'ambiguous-id': 'Give more digits of the id in the address.',
  'unknown-workflow': 'Nothing is deployed under this name: choose one from the list.',
};
