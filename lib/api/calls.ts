/**
 * Every route of the API, its kind of call, and the client's method for it.
 *
 * Owns: the list that gateway (`infra/scheduler-api.ts`), tokens (`serve/tokens.ts`) and client (`client.ts`)
 * use. Does not own: what a route takes and does (its row in `routes.ts`), its description in documents
 * (`scripts/contract/routes.ts`): a route without these does not compile.
 */

/** The purpose of a call: a caller with a token needs a scope for each. */
export type CallKind = 'start' | 'run' | 'read' | 'operate' | 'callback' | 'erase';

export interface Call {
  /** The client's method. */
  readonly name: string;
  /** A field that each of its answers has; an answer without it does not come from this API. */
  readonly has: string;
}

export const CALLS = {
  'GET /workflows': { name: 'workflows', has: 'items' },
  'GET /workflows/{name}': { name: 'workflow', has: 'steps' },
  'POST /workflows/{name}/executions': { name: 'start', has: 'executionId' },
  'POST /workflows/{name}/runs': { name: 'run', has: 'steps' },
  'POST /workflows/{name}/messages': { name: 'sendByKey', has: 'order' },
  'POST /workflows/{name}/pause': { name: 'pauseWorkflow', has: 'workflow' },
  'POST /workflows/{name}/resume': { name: 'resumeWorkflow', has: 'workflow' },
  'GET /executions': { name: 'list', has: 'items' },
  'GET /executions/{id}': { name: 'get', has: 'steps' },
  'GET /executions/{id}/why': { name: 'why', has: 'past' },
  'POST /executions/{id}/cancel': { name: 'cancel', has: 'executionId' },
  'POST /executions/{id}/pause': { name: 'pause', has: 'executionId' },
  'POST /executions/{id}/resume': { name: 'resume', has: 'executionId' },
  'POST /executions/{id}/retry': { name: 'retry', has: 'executionId' },
  'POST /executions/{id}/messages': { name: 'sendById', has: 'order' },
  'POST /executions/{id}/erase': { name: 'erase', has: 'executionId' },
  'POST /executions/{id}/incidents/{n}/resolve': { name: 'resolve', has: 'executionId' },
  'POST /bulk': { name: 'makeBulk', has: 'bulkId' },
  'GET /bulk/{id}': { name: 'bulk', has: 'bulkId' },
  'POST /bulk/{id}/collect': { name: 'collectBulk', has: 'bulkId' },
  'POST /bulk/{id}/confirm': { name: 'confirmBulk', has: 'bulkId' },
  'POST /bulk/{id}/answer': { name: 'answerBulk', has: 'bulkId' },
  'POST /callbacks/{token}/complete': { name: 'completeCallback', has: 'status' },
  'POST /callbacks/{token}/fail': { name: 'failCallback', has: 'status' },
  'POST /callbacks/{token}/heartbeat': { name: 'heartbeatCallback', has: 'status' },
  'GET /incidents': { name: 'incidents', has: 'items' },
  'GET /overview': { name: 'overview', has: 'endedWithoutSuccess' },
  'GET /agents': { name: 'agents', has: 'items' },
  'POST /agents/{name}/pause': { name: 'pauseAgent', has: 'agent' },
  'POST /agents/{name}/resume': { name: 'resumeAgent', has: 'agent' },
  'POST /agents/{name}/try-now': { name: 'tryAgentNow', has: 'woken' },
  'GET /health': { name: 'health', has: 'oldestOverdueMs' },
  'GET /openapi.json': { name: 'openapi', has: 'openapi' },
} as const satisfies Readonly<Record<string, Call>>;

/** Method and path, as the gateway names a route. */
export type Route = keyof typeof CALLS;

/** The kinds of the routes that change something. A list of its own, because no client reads it. */
const KINDS: Readonly<Record<Exclude<Route, `GET ${string}`>, CallKind>> = {
  'POST /workflows/{name}/executions': 'start',
  'POST /workflows/{name}/runs': 'run',
  'POST /workflows/{name}/messages': 'start',
  'POST /workflows/{name}/pause': 'operate',
  'POST /workflows/{name}/resume': 'operate',
  'POST /executions/{id}/cancel': 'operate',
  'POST /executions/{id}/pause': 'operate',
  'POST /executions/{id}/resume': 'operate',
  'POST /executions/{id}/retry': 'operate',
  'POST /executions/{id}/messages': 'start',
  'POST /executions/{id}/erase': 'erase',
  'POST /executions/{id}/incidents/{n}/resolve': 'operate',
  'POST /bulk': 'operate',
  'POST /bulk/{id}/collect': 'operate',
  'POST /bulk/{id}/confirm': 'operate',
  'POST /bulk/{id}/answer': 'callback',
  'POST /callbacks/{token}/complete': 'callback',
  'POST /callbacks/{token}/fail': 'callback',
  'POST /callbacks/{token}/heartbeat': 'callback',
  'POST /agents/{name}/pause': 'operate',
  'POST /agents/{name}/resume': 'operate',
  'POST /agents/{name}/try-now': 'operate',
};

/** The kind of a route; a GET only reads. */
export const kindOf = (route: Route): CallKind =>
  (KINDS as Partial<Record<Route, CallKind>>)[route] ?? 'read';
