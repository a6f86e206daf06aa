/**
 * Every route of the API, and what kind of call it is.
 *
 * Owns: the list. The gateway has these routes (`infra/scheduler-api.ts`), the app answers them
 * (`routes.ts`), the contract describes them (`scripts/contract/routes.ts`). Does not own: what they do.
 */

/** What a call is for: what a caller with a token needs a scope of its own for. */
export type Call = 'start' | 'read' | 'operate' | 'callback';

export const CALLS = {
  'GET /workflows': 'read',
  'GET /workflows/{name}': 'read',
  'POST /workflows/{name}/executions': 'start',
  'POST /workflows/{name}/pause': 'operate',
  'POST /workflows/{name}/resume': 'operate',
  'GET /executions': 'read',
  'GET /executions/{id}': 'read',
  'GET /executions/{id}/why': 'read',
  'POST /executions/{id}/cancel': 'operate',
  'POST /executions/{id}/pause': 'operate',
  'POST /executions/{id}/resume': 'operate',
  'POST /executions/{id}/retry': 'operate',
  'POST /executions/{id}/incidents/{n}/resolve': 'operate',
  'POST /bulk': 'operate',
  'GET /bulk/{id}': 'read',
  'POST /bulk/{id}/collect': 'operate',
  'POST /bulk/{id}/confirm': 'operate',
  'POST /bulk/{id}/answer': 'callback',
  'POST /callbacks/{token}/complete': 'callback',
  'POST /callbacks/{token}/fail': 'callback',
  'POST /callbacks/{token}/heartbeat': 'callback',
  'GET /incidents': 'read',
  'GET /overview': 'read',
  'GET /agents': 'read',
  'GET /agents/{name}/outages': 'read',
  'POST /agents/{name}/pause': 'operate',
  'POST /agents/{name}/resume': 'operate',
  'GET /health': 'read',
  'GET /openapi.json': 'read',
} as const satisfies Readonly<Record<string, Call>>;

/** As the gateway names it: method and path. */
export type Route = keyof typeof CALLS;
