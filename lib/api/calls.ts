/**
 * Every route of the API, its kind of call, and the client's method for it.
 *
 * Owns: the list that gateway (`infra/scheduler-api.ts`), tokens (`serve/tokens.ts`) and client (`client.ts`)
 * use. Does not own: a route's request and handler (its row in `routes.ts`), its description in documents
 * (`scripts/contract/routes.ts`): a route without these does not compile.
 */

/** The purpose of a call: a caller with a token needs a scope for each. */
export type CallKind = 'start' | 'run' | 'read' | 'operate' | 'callback' | 'erase';

export interface Call {
  /** The client's method. */
  readonly name: string;
  /** A field that each of its answers has; an answer without it does not come from this API. */
  readonly has: string;
  /** @default 'read', which every GET is */
  readonly kind?: CallKind;
}

interface Calls {
  readonly [route: `GET ${string}`]: Call;
  readonly [route: `POST ${string}`]: Call & { readonly kind: CallKind };
}

export const CALLS = {
  'GET /workflows': { name: 'workflows', has: 'items' },
  'GET /workflows/{name}': { name: 'workflow', has: 'steps' },
  'POST /workflows/{name}/executions': { name: 'start', has: 'executionId', kind: 'start' },
  'POST /workflows/{name}/runs': { name: 'run', has: 'steps', kind: 'run' },
  'POST /workflows/{name}/messages': { name: 'sendByKey', has: 'order', kind: 'start' },
  'POST /workflows/{name}/pause': { name: 'pauseWorkflow', has: 'workflow', kind: 'operate' },
  'POST /workflows/{name}/resume': { name: 'resumeWorkflow', has: 'workflow', kind: 'operate' },
  'GET /executions': { name: 'list', has: 'items' },
  'GET /executions/{id}': { name: 'get', has: 'steps' },
  'GET /executions/{id}/why': { name: 'why', has: 'past' },
  'POST /executions/{id}/cancel': { name: 'cancel', has: 'executionId', kind: 'operate' },
  'POST /executions/{id}/pause': { name: 'pause', has: 'executionId', kind: 'operate' },
  'POST /executions/{id}/resume': { name: 'resume', has: 'executionId', kind: 'operate' },
  'POST /executions/{id}/retry': { name: 'retry', has: 'executionId', kind: 'operate' },
  'POST /executions/{id}/messages': { name: 'sendById', has: 'order', kind: 'start' },
  'POST /executions/{id}/erase': { name: 'erase', has: 'executionId', kind: 'erase' },
  'POST /executions/{id}/incidents/{n}/resolve': { name: 'resolve', has: 'executionId', kind: 'operate' },
  'POST /bulk': { name: 'makeBulk', has: 'bulkId', kind: 'operate' },
  'GET /bulk/{id}': { name: 'bulk', has: 'bulkId' },
  'POST /bulk/{id}/collect': { name: 'collectBulk', has: 'bulkId', kind: 'operate' },
  'POST /bulk/{id}/confirm': { name: 'confirmBulk', has: 'bulkId', kind: 'operate' },
  'POST /bulk/{id}/answer': { name: 'answerBulk', has: 'bulkId', kind: 'callback' },
  'POST /callbacks/{token}/complete': { name: 'completeCallback', has: 'status', kind: 'callback' },
  'POST /callbacks/{token}/fail': { name: 'failCallback', has: 'status', kind: 'callback' },
  'POST /callbacks/{token}/heartbeat': { name: 'heartbeatCallback', has: 'status', kind: 'callback' },
  'GET /incidents': { name: 'incidents', has: 'items' },
  'GET /overview': { name: 'overview', has: 'endedWithoutSuccess' },
  'GET /agents': { name: 'agents', has: 'items' },
  'POST /agents/{name}/pause': { name: 'pauseAgent', has: 'agent', kind: 'operate' },
  'POST /agents/{name}/resume': { name: 'resumeAgent', has: 'agent', kind: 'operate' },
  'POST /agents/{name}/try-now': { name: 'tryAgentNow', has: 'woken', kind: 'operate' },
  'GET /health': { name: 'health', has: 'oldestOverdueMs' },
  'GET /openapi.json': { name: 'openapi', has: 'openapi' },
} as const satisfies Calls;

/** Method and path, as the gateway names a route. */
export type Route = keyof typeof CALLS;

export const kindOf = (route: Route): CallKind => {
  const call: Call = CALLS[route];
  return call.kind ?? 'read';
};
