/**
 * A row of the table of routes: the request that a route takes, and its handler.
 *
 * Owns: the form of a row. Does not own: the rows (`routes.ts`), a route's scope and the client's method
 * (`calls.ts`), its description in documents (`scripts/contract/routes.ts`).
 */

import type { Context } from 'hono';
import type * as z from 'zod/mini';
import type { Receipts } from '../core/ports.ts';
import type { Scheduler } from '../scheduler/start.ts';
import type { CALLS, Route } from './calls.ts';
import type { AnswerOf, CallName } from './client.ts';
import type { AllForms, Workflows } from './deployment-answers.ts';
import type { Measured } from './health.ts';

/** The parts that the routes use. */
export interface ServedFrom {
  readonly scheduler: Scheduler;
  /** Receipts of supervisors and audit, for `/health`. */
  readonly receipts: Receipts | undefined;
  /** Reads the contract as text, for `/openapi.json`. */
  readonly openapi: () => Promise<string>;
  /** Reads the forms for `GET /workflows/{name}`. */
  readonly forms: () => Promise<AllForms>;
  /** The metrics for `/health`, if there are any. */
  readonly metrics: Measured | undefined;
}

export interface RouteCall extends ServedFrom {
  readonly c: Context;
  /** The first name in the path. */
  readonly named: string;
}

/** Absent fields are left out, never `undefined`: JSON and queries know no such value. */
type Sent<Schema extends z.ZodMiniObject> = {
  [Field in keyof z.output<Schema>]: Exclude<z.output<Schema>[Field], undefined>;
};

type Answered = Response | ReturnType<Context['json']>;

export interface RouteRow<Answer extends object = object> {
  /** A GET's query, or another call's body; without it neither is read. */
  readonly takes: z.ZodMiniObject | undefined;
  readonly answer: (asked: RouteCall, sent: never) => Promise<Answered>;
  /** Only for the compiler. */
  readonly of?: Answer;
}

type NameOf<One extends Route> = (typeof CALLS)[One]['name'];
/**
 * A route's answer is that of the client's method; only the method for workflows returns just the list in it.
 */
type RouteAnswer<One extends Route> =
  NameOf<One> extends 'workflows' ? Workflows : NameOf<One> extends CallName ? AnswerOf<NameOf<One>> : object;

/** A row for each route, with the answer of the client's method. */
export type RouteRows = { readonly [One in Route]: RouteRow<RouteAnswer<One>> };

/**
 * @param status of the answer, unless it sets another
 * @param answer returns the answer, as JSON
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
