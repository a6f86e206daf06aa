/**
 * A row of the table of routes: what a route takes, and what it does.
 *
 * Owns: the form of a row. Does not own: the rows (`routes.ts`), which scope a route has and which call of
 * the client makes it (`calls.ts`), how documents describe it (`scripts/contract/routes.ts`).
 */

import type { Context } from 'hono';
import type * as z from 'zod/mini';
import type { Receipts } from '../core/ports.ts';
import type { Scheduler } from '../scheduler/start.ts';
import type { CALLS, Route } from './calls.ts';
import type { AnswerOf, CallName } from './client.ts';
import type { AllForms, Workflows } from './deployment-answers.ts';
import type { Measured } from './health.ts';

/** What the routes are served from. */
export interface ServedFrom {
  readonly scheduler: Scheduler;
  /** Receipts of supervisors and audit, for `/health`. */
  readonly receipts: Receipts | undefined;
  /** Reads the contract as text, for `/openapi.json`. */
  readonly openapi: () => Promise<string>;
  /** Reads what `GET /workflows/{name}` says of a workflow's schemas. */
  readonly forms: () => Promise<AllForms>;
  /** Where there are any, for `/health`. */
  readonly metrics: Measured | undefined;
}

export interface RouteCall extends ServedFrom {
  readonly c: Context;
  /** What the path names first. */
  readonly named: string;
}

/** Absent fields are left out, never `undefined`: JSON and queries know no such value. */
type Sent<Schema extends z.ZodMiniObject> = {
  [Field in keyof z.output<Schema>]: Exclude<z.output<Schema>[Field], undefined>;
};

type Answered = Response | ReturnType<Context['json']>;

export interface RouteRow<Answer extends object = object> {
  /** A GET's query, any other's body; without it neither is read. */
  readonly takes: z.ZodMiniObject | undefined;
  readonly answer: (asked: RouteCall, sent: never) => Promise<Answered>;
  /** For the compiler alone. */
  readonly of?: Answer;
}

type NameOf<One extends Route> = (typeof CALLS)[One]['name'];
/** The answer of a route: that of the client's call; the call for workflows takes them out of it. */
type RouteAnswer<One extends Route> =
  NameOf<One> extends 'workflows' ? Workflows : NameOf<One> extends CallName ? AnswerOf<NameOf<One>> : object;

/** A row for each route, of what its method of the client answers. */
export type RouteRows = { readonly [One in Route]: RouteRow<RouteAnswer<One>> };

/**
 * @param status unless the answer sets another
 * @param answer what is answered, as JSON
 */
export const row = <Schema extends z.ZodMiniObject, Answer extends object>(
  status: 200 | 202,
  takes: Schema | undefined,
  answer: (asked: RouteCall, sent: Sent<Schema>) => Promise<Answer>,
): RouteRow<Answer> => ({
  takes,
  answer: async (asked: RouteCall, sent: Sent<Schema>) => {
    asked.c.status(status);
    return asked.c.json(await answer(asked, sent));
  },
});
