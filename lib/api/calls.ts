/**
 * Every route of the API, what kind of call it is, and how a client makes it.
 *
 * Owns: the list, as far as gateway (`infra/scheduler-api.ts`), tokens (`serve/tokens.ts`) and client
 * (`client.ts`) know it. Does not own: what a route takes and does (its row in `routes.ts`), how documents
 * describe it (`scripts/contract/routes.ts`): a route without these does not compile.
 */

/** What a call is for: what a caller with a token needs a scope of its own for. */
export type CallKind = 'start' | 'run' | 'read' | 'operate' | 'callback' | 'erase';

export interface Call {
  readonly for: CallKind;
  /** The client's method. */
  readonly name: string;
  /** A field that each of its answers has: an answer without it is not this API's. */
  readonly has: string;
}

export const CALLS = {
  'GET /workflows': { for: 'read', name: 'workflows', has: 'items' },
  'GET /workflows/{name}': { for: 'read', name: 'workflow', has: 'steps' },
  'POST /workflows/{name}/executions': { for: 'start', name: 'start', has: 'executionId' },
  'POST /workflows/{name}/runs': { for: 'run', name: 'run', has: 'steps' },
  'POST /workflows/{name}/pause': { for: 'operate', name: 'pauseWorkflow', has: 'workflow' },
  'POST /workflows/{name}/resume': { for: 'operate', name: 'resumeWorkflow', has: 'workflow' },
  'GET /executions': { for: 'read', name: 'list', has: 'items' },
  'GET /executions/{id}': { for: 'read', name: 'get', has: 'steps' },
  'GET /executions/{id}/why': { for: 'read', name: 'why', has: 'past' },
  'POST /executions/{id}/cancel': { for: 'operate', name: 'cancel', has: 'executionId' },
  'POST /executions/{id}/pause': { for: 'operate', name: 'pause', has: 'executionId' },
  'POST /executions/{id}/resume': { for: 'operate', name: 'resume', has: 'executionId' },
  'POST /executions/{id}/retry': { for: 'operate', name: 'retry', has: 'executionId' },
  'POST /executions/{id}/erase': { for: 'erase', name: 'erase', has: 'executionId' },
  'POST /executions/{id}/incidents/{n}/resolve': { for: 'operate', name: 'resolve', has: 'executionId' },
  'POST /bulk': { for: 'operate', name: 'makeBulk', has: 'bulkId' },
  'GET /bulk/{id}': { for: 'read', name: 'bulk', has: 'bulkId' },
  'POST /bulk/{id}/collect': { for: 'operate', name: 'collectBulk', has: 'bulkId' },
  'POST /bulk/{id}/confirm': { for: 'operate', name: 'confirmBulk', has: 'bulkId' },
  'POST /bulk/{id}/answer': { for: 'callback', name: 'answerBulk', has: 'bulkId' },
  'POST /callbacks/{token}/complete': { for: 'callback', name: 'completeCallback', has: 'status' },
  'POST /callbacks/{token}/fail': { for: 'callback', name: 'failCallback', has: 'status' },
  'POST /callbacks/{token}/heartbeat': { for: 'callback', name: 'heartbeatCallback', has: 'status' },
  'GET /incidents': { for: 'read', name: 'incidents', has: 'items' },
  'GET /overview': { for: 'read', name: 'overview', has: 'endedWithoutSuccess' },
  'GET /agents': { for: 'read', name: 'agents', has: 'items' },
  'POST /agents/{name}/pause': { for: 'operate', name: 'pauseAgent', has: 'agent' },
  'POST /agents/{name}/resume': { for: 'operate', name: 'resumeAgent', has: 'agent' },
  'POST /agents/{name}/try-now': { for: 'operate', name: 'tryAgentNow', has: 'woken' },
  'GET /health': { for: 'read', name: 'health', has: 'oldestOverdueMs' },
  'GET /openapi.json': { for: 'read', name: 'openapi', has: 'openapi' },
} as const satisfies Readonly<Record<string, Call>>;

/** As the gateway names it: method and path. */
export type Route = keyof typeof CALLS;
