/** Who may import whom (docs/ARCHITECTURE.md, folders): `tidy.test.ts` checks each file. */

/** Entries that authors import by the package's name: its `exports`. */
export const ENTRIES: Readonly<Record<string, string>> = {
  steadfast: 'lib/index.ts',
  'steadfast/cdk': 'lib/cdk.ts',
  'steadfast/client': 'lib/client.ts',
  'steadfast/testing': 'kit/test-workflow.ts',
};
interface Layer {
  readonly may: readonly string[];
  readonly builtins?: boolean;
}
const LOADED_PARTS = [
  'author/left-references',
  'author/schemas/input-check',
  'author/schemas/json-schema-check',
  'author/schemas/odd-names',
  'author/schemas/reference-check',
  'author/triggers/schedule-check',
  'author/triggers/trigger-declaration',
  'core/plan/agent-parts',
  'core/plan/built-in',
  'core/plan/refs',
  'core/plan/workflow',
  'core/values/defined',
  'core/values/errors',
  'core/values/json',
  'core/values/nearest',
  'core/values/options',
  'core/values/rate',
  'core/values/signed-by',
];
/** Files for loading a workflow that are in no function: names, the API's routes, refusals. */
const LOADED = [
  'lib/api/calls.ts',
  'lib/aws/names.ts',
  'lib/aws/charts.ts',
  'lib/notifications/tries.ts',
  ...LOADED_PARTS.map((file) => `lib/${file}.ts`),
  'zod/mini',
];
const ANSWERS = [
  'lib/api/agent-answers.ts',
  'lib/api/answers.ts',
  'lib/api/bulk-answers.ts',
  'lib/api/call-options.ts',
  'lib/api/deployment-answers.ts',
  'lib/api/message-answers.ts',
];
const CLIENT = ['lib/api/client.ts', ...ANSWERS, 'lib/api/authorization.ts'];
const SHELL = ['commander', 'chokidar', '@smithy/', '@aws-sdk/credential-provider-node'];
const ROLES = ['lib/scheduler/', 'lib/agent/', 'lib/supervisor/'];
/** The imports that a role may have: shared code, but no other role. */
const ROLE = { may: ['lib/core/', 'lib/engine/', '@standard-schema/spec'] };
/** The clients, and the packages they consist of. */
const SDK = ['@aws-sdk/', '@smithy/'];
/** The imports that a role's Lambda handler may have, AWS's clients included. */
const HANDLER = ['lib/core/', 'lib/engine/', 'lib/aws/', '@aws-', 'aws-lambda'];
/**
 * A folder may import itself and modules, ours or packages, whose names begin with one of these. The first
 * matching entry counts.
 */
const LAYERS: Readonly<Record<string, Layer>> = {
  'lib/core/': { may: ['@standard-schema/spec'] },
  // Used when a workflow is declared: nothing that decides or runs imports it.
  'lib/author/': { may: ['lib/core/', '@standard-schema/spec'] },
  'lib/engine/': { may: ['lib/core/', '@standard-schema/spec'] },
  // Describes the state for people: nothing that decides imports it.
  'lib/explain/': { may: ['lib/core/'] },
  // The code that answers HTTP is in no agent's code.
  'lib/api/handler.ts': { may: [...HANDLER, 'lib/scheduler/', 'lib/api/', 'hono'], builtins: true },
  'lib/scheduler/starter-handler.ts': { may: [...HANDLER, 'lib/scheduler/'], builtins: true },
  'lib/scheduler/bulk-handler.ts': { may: [...HANDLER, 'lib/scheduler/'], builtins: true },
  'lib/scheduler/ids.ts': { may: ['uuid'], builtins: true },
  'lib/scheduler/': ROLE,
  'lib/agent/handler.ts': { may: [...HANDLER, 'lib/agent/'] },
  'lib/agent/host-handler.ts': { may: [...HANDLER, 'lib/agent/'] },
  'lib/agent/isolated-handler.ts': { may: ['lib/agent/', 'lib/worker/isolated'], builtins: true },
  'lib/agent/': ROLE,
  'lib/supervisor/handler.ts': { may: [...HANDLER, 'lib/supervisor/'] },
  'lib/supervisor/audit-handler.ts': { may: [...HANDLER, 'lib/supervisor/'] },
  'lib/supervisor/': ROLE,
  'lib/aws/': { may: ['lib/core/', ...SDK, '@aws-lambda', 'aws-lambda', 'zod/'], builtins: true },
  'lib/memory/': { may: ['lib/core/'] },
  'lib/api/': { may: ['lib/core/', 'lib/engine/', 'lib/explain/', ...ROLES, 'hono', 'zod/mini'] },
  'lib/project/': { may: [], builtins: true },
  'lib/infra/': { may: ['aws-cdk-lib', 'constructs', 'esbuild', 'lib/project/', ...LOADED], builtins: true },
  'lib/worker/': { may: ['lib/core/', 'lib/engine/', 'lib/aws/'], builtins: true },
  // Sends notifications to addresses that starts gave; its function reads executions and decides nothing.
  'lib/notifications/handler.ts': {
    may: [
      'lib/aws/',
      'lib/core/',
      'lib/ready/addresses.ts',
      'lib/ready/secret.ts',
      'lib/remote/target.ts',
      'lib/notifications/',
      '@aws-',
      'aws-lambda',
    ],
  },
  'lib/notifications/': {
    may: ['lib/ready/send.ts', 'lib/ready/addresses.ts', 'lib/remote/retry-after.ts'],
    builtins: true,
  },
  // Takes what third parties sign, before a role is asked: it knows no workflow.
  'lib/webhooks/handler.ts': {
    may: ['lib/aws/', 'lib/ready/secret.ts', 'lib/webhooks/', '@aws-', 'aws-lambda'],
    builtins: true,
  },
  'lib/webhooks/': { may: ['lib/core/values/'], builtins: true },
  // Texts and drawings that command line and page share.
  'lib/view/': { may: [...ANSWERS, 'lib/core/', 'lib/explain/', 'lib/aws/names.ts', 'lib/aws/charts.ts'] },
  // Author code that is deployed for the checks, and the app that deploys it.
  'cli/verify/stack/app.ts': { may: ['aws-cdk-lib', 'lib/infra/'], builtins: true },
  'cli/verify/stack/': { may: ['lib/index.ts', 'zod/mini', '@aws-sdk/client-dynamodb'], builtins: true },
  'cli/': {
    may: [
      ...CLIENT,
      'lib/view/',
      'lib/api/short-ids.ts',
      'lib/api/calls.ts',
      'lib/api/workflow-view.ts',
      'lib/project/',
      'lib/worker/run.ts',
      'lib/aws/names.ts',
      'lib/aws/charts.ts',
      // A bucket is emptied before it is removed.
      'lib/aws/s3-values.ts',
      'local/',
      'serve/',
      ...SHELL,
    ],
    builtins: true,
  },
  // A project on the local cloud, as `steadfast dev` starts it.
  'kit/cloud/': {
    may: [
      ...ANSWERS,
      'lib/api/typed-client.ts',
      'lib/core/values/options.ts',
      'cli/',
      'kit/',
      'lib/project/',
      'local/',
    ],
    builtins: true,
  },
  // Workflows in the test's own process, as `steadfast serve` runs them.
  'kit/server/': {
    may: ['lib/api/typed-client.ts', 'lib/core/', 'lib/notifications/signed-event.ts', 'kit/', 'serve/'],
    builtins: true,
  },
  'kit/': {
    may: [
      'lib/api/typed-client.ts',
      'lib/author/',
      'local/control/fault.ts',
      'lib/core/',
      'lib/engine/',
      'lib/explain/',
      // The refusals at synthesis also apply in a test.
      'lib/infra/json-schema.ts',
      'lib/memory/',
      ...ROLES,
      'node:timers',
      'node:v8',
      'node:vm',
    ],
  },
  'lib/cdk.ts': { may: ['lib/infra/'] },
  'lib/client.ts': { may: [...CLIENT, 'lib/api/typed-client.ts', 'lib/api/through-lambda.ts'] },
  // Author code of our own: it calls outside services, as an author's does.
  'lib/remote/': {
    may: ['lib/core/', 'lib/aws/', '@aws-sdk/credential-provider-node'],
    builtins: true,
  },
  // Agents that are declared whole: their declaration writes references as a workflow does.
  'lib/ready/declaration.ts': { may: ['lib/core/', 'lib/author/ref-types.ts', 'lib/remote/target.ts'] },
  'lib/ready/aws-agents.ts': { may: ['lib/core/', 'lib/author/', 'lib/ready/', 'lib/remote/target.ts'] },
  'lib/ready/http-agent.ts': { may: ['lib/core/', 'lib/author/references.ts', 'lib/ready/'] },
  'lib/ready/': {
    may: ['lib/core/', ...['http', 'retry-after', 'target'].map((file) => `lib/remote/${file}.ts`)],
    builtins: true,
  },
  'lib/index.ts': {
    may: [
      'lib/author/',
      'lib/core/',
      'lib/agent/handler.ts',
      'lib/ready/',
      'lib/remote/',
      '@standard-schema/spec',
    ],
  },
  // The same names for functions that host no agent of an author's.
  'lib/without-handlers.ts': { may: ['lib/core/', 'lib/ready/', 'lib/index.ts'] },
  'local/': { may: [], builtins: true },
  // A client of DynamoDB over a file: the only modules of ours that it knows are the table's keys and
  // indexes.
  'serve/sqlite/': { may: ['lib/aws/names.ts', '@aws-sdk/client-dynamodb', 'libsql'], builtins: true },
  // Files of a project as JavaScript: it knows none of our modules.
  'serve/compiled/': { may: ['esbuild'], builtins: true },
  // The roles, over it, in one process; for HTTP it uses the local cloud's checks of a request.
  'serve/': {
    may: [
      'lib/author/triggers/',
      'lib/core/',
      'lib/engine/',
      'lib/aws/',
      'lib/api/',
      ...ROLES,
      'lib/worker/',
      'lib/notifications/',
      'lib/webhooks/receive.ts',
      'lib/ready/secret.ts',
      'lib/infra/discover.ts',
      'lib/infra/discovery.ts',
      'lib/infra/event-shapes.ts',
      'lib/infra/handlers.ts',
      'lib/project/',
      'local/http/',
      'local/sqs/fair-line.ts',
      'hono',
      'croner',
      '@aws-sdk/client-dynamodb',
    ],
    builtins: true,
  },
  'console/vite.config.ts': { may: ['vite'], builtins: true },
  // Runs in a browser: only pure code, and nothing imports it.
  'console/': {
    may: [
      ...ANSWERS,
      'lib/api/client.ts',
      'lib/api/short-ids.ts',
      'lib/view/',
      'lib/core/',
      'preact',
      '@preact/',
      '@dagrejs/',
      'uplot',
    ],
  },
  'lambdas/': {
    may: [
      ...ROLES,
      'lib/api/handler.ts',
      'lib/notifications/handler.ts',
      'lib/webhooks/handler.ts',
      'lib/index.ts',
      '@steadfast/',
    ],
  },
};

/** The outside world of examples: its shared parts, and the libraries of real services. */
const OUTSIDE = ['examples/world/', '@aws-sdk/client-', 'sql.js'];

/** Types for the presentation in each `example.ts`. */
const SHOWN = ['examples/gallery/example.ts', 'examples/gallery/audit.ts'];
/** Modules that the published package also has. */
const PACKAGE = ['lib/index.ts', 'lib/client.ts', 'kit/test-workflow.ts'];

/**
 * One example: the package's entries, its own folder; its presentation and tests may drive the local cloud.
 */
function exampleLayer(path: string): [string, Layer] {
  const folder = `${path.split('/').slice(0, 2).join('/')}/`;
  if (folder === 'examples/gallery/')
    return [
      folder,
      { may: [...PACKAGE, 'lib/cdk.ts', 'aws-cdk-lib/', 'zod/mini', 'examples/world/'], builtins: true },
    ];
  if (path.startsWith('examples/beside/peers/'))
    return [
      'examples/beside/peers/',
      { may: ['examples/beside/services.ts', '@restatedev/restate-sdk', '@dbos-inc/dbos-sdk'] },
    ];
  const shows = /\/(?:example|example\.test)\.ts$/.test(path) ? [...SHOWN, ...PACKAGE] : [];
  const drives = path.includes('/demo/') || path.endsWith('.test.ts');
  const may = ['lib/index.ts', 'lib/client.ts', 'zod/mini', ...OUTSIDE, ...shows, ...(drives ? PACKAGE : [])];
  return [folder, { may, builtins: true }];
}

export const layerOf = (path: string): [string, Layer] | undefined =>
  path.startsWith('examples/')
    ? exampleLayer(path)
    : Object.entries(LAYERS).find(([folder]) => path.startsWith(folder));
