/**
 * The projects of `npm run adopt`, as their owners would have created them.
 *
 * Owns: the projects, and the checks in each. Does not own: running command lines (`steps.ts`), the package
 * (`../adopt.ts`).
 */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { followFirstProject, followPages } from './printed.ts';
import {
  check,
  declares,
  folder,
  onlyOne,
  refused,
  ROOT,
  run,
  checked,
  tryIt,
  tryOnce,
  use,
  usePrograms,
  work,
} from './steps.ts';

const MAX_CLIENT_KB = 11;
/** The oldest CDK that `peerDependencies` allows. */
const FLOOR = { 'aws-cdk-lib': '2.275.0', constructs: '10.5.1' };
const OLDEST_TYPESCRIPT = 'typescript@5.4.5';
const PNPM = 'pnpm@12.21.0';

export interface Given {
  /** The tarballs of `steadfast` and of `create-steadfast`. */
  readonly tarball: string;
  readonly createTarball: string;
  /** Called with the clone in which a reader of README has packed the package. */
  readonly onPacked: (clone: string) => Promise<void>;
}

/** The measurements of a fixture. */
export interface Measured {
  readonly clientKB?: number;
  readonly clientInstallMB?: number;
}

type Fixture = (given: Given) => Promise<Measured | void>;

/** The command line that `npm create steadfast@latest` runs. */
const create = ({ createTarball, tarball }: Given, place = '.'): string =>
  `npx --yes --package ${createTarball} create-steadfast ${place} --package ${tarball}`;

const FIRST = 'new-app';

/**
 * Creates a new app. Only the first app installs packages; the others use those, because they need the same
 * ones.
 */
async function created(given: Given, name: string): Promise<string> {
  const [cwd, installed] = [name, FIRST].map((each) => join(work, each)) as [string, string];
  const isThere = existsSync(join(installed, 'package-lock.json'));
  await run(work, `${create(given, name)}${isThere ? ' --no-install' : ''}`);
  if (isThere) symlinkSync(join(installed, 'node_modules'), join(cwd, 'node_modules'));
  return cwd;
}

function write(cwd: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
}

/** Writes the app that `create` starts with, whose only part of Steadfast is the construct. */
function writeApp(cwd: string, name: string, dependencies: object): void {
  const templates = join(ROOT, 'create', 'templates', 'app');
  for (const path of ['bin/app.ts', 'cdk.json', 'lib/app-stack.ts', 'package.json', 'tsconfig.json']) {
    const text = readFileSync(join(templates, path), 'utf8').replaceAll(/__(?:name|stack)__/g, name);
    const isManifest = path === 'package.json';
    write(cwd, { [path]: isManifest ? manifestWith(text, dependencies) : text });
  }
}

const manifestWith = (text: string, dependencies: object): string =>
  JSON.stringify({ ...(JSON.parse(text) as object), dependencies }, null, 2);

/**
 * Checks the output of a failing test, because a runner that is too new for this Node may pass green tests
 * but not report a red one.
 */
async function redTestSaysWhy(cwd: string): Promise<void> {
  const red = 'test/red.test.ts';
  write(cwd, {
    [red]:
      "import { expect, test } from 'vitest';\ntest('red', () => expect({ sum: 2 }).toEqual({ sum: 3 }));\n",
  });
  await refused(cwd, `npm test -- ${red}`, 'expected { sum: 2 } to deeply equal { sum: 3 }');
  rmSync(join(cwd, red));
}

const PYTHON = 'Python heard no answer';
const CONTAINERS = {
  'lib/app-stack.ts': `import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { Steadfast, Workflows } from 'steadfast/cdk';

export class AppStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const container = { vpc: new Vpc(this, 'Vpc', { maxAzs: 2 }) };
    new Steadfast(this, 'Steadfast', {
      workflows: Workflows.fromFolder('workflows'),
      agentSettings: { 'compose-greeting': { container }, 'post-greeting': { container } },
    });
  }
}
`,
  'workflows/hello-greeting/agents/post-greeting.ts': `import { remoteAgent } from 'steadfast';
import { postGreeting } from '../workflow.js';

export const handler = remoteAgent(postGreeting, {
  command: ['python3', 'post-greeting/main.py'],
  folder: import.meta.dirname,
});
`,
  'workflows/hello-greeting/agents/post-greeting/main.py': `import json, os, sys, urllib.error, urllib.request

call = json.loads(sys.stdin.readline())
url = os.environ["POST_OFFICE_URL"] + "/letters/" + call["idempotencyKey"]
method = {"execute": "POST", "probe": "GET", "undo": "DELETE"}[call["call"]]
data = call["input"]["text"].encode() if method == "POST" else None
try:
    with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as reply:
        receipt = reply.read().decode()
    answer = {"answer": "done"} if method == "DELETE" else {"answer": "done", "output": {"receipt": receipt}}
except urllib.error.HTTPError as error:
    answer = {"answer": {404: "notDone", 503: "transient"}.get(error.code, "cannotTell")}
except OSError as error:
    answer = {"answer": "cannotTell", "message": f"${PYTHON}: {error}"}
print(json.dumps(answer))
`,
};

/** Two stages, and a stack with two Steadfasts. */
const SEVERAL = {
  'bin/app.ts': `import { App, RemovalPolicy } from 'aws-cdk-lib/core';
import { SteadfastStack, Workflows } from 'steadfast/cdk';
import { AppStack } from '../lib/app-stack.js';

const app = new App();
const workflows = Workflows.fromFolder('workflows');
new SteadfastStack(app, 'Orders-dev', { workflows, removalPolicy: RemovalPolicy.DESTROY });
new SteadfastStack(app, 'Orders-prod', { workflows, supervisorConcurrency: 6 });
new AppStack(app, 'Shop');
`,
  'lib/app-stack.ts': `import { Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { Steadfast, Workflows } from 'steadfast/cdk';

export class AppStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    for (const name of ['Payments', 'Reports'])
      new Steadfast(this, name, { workflows: Workflows.fromFolder('workflows') });
  }
}
`,
  'workflows/hello-greeting/triggers.ts': `import { onMessage } from 'steadfast';
import { helloGreeting } from './workflow.js';

export const requests = onMessage(helloGreeting, { idempotencyKey: '$.body.name' });
`,
};

/** The projects of a lane run one after the other; the first ones are those of CI. */
export const LANES = [
  ['cdk-init', 'pnpm-workspace', 'client'],
  ['printed', FIRST, 'containers', 'two-stacks'],
] as const;

export const FIXTURES: Readonly<Record<string, Fixture>> = {
  /** A project as `cdk init` creates it: CommonJS, jest. */
  'cdk-init': async (given) => {
    const cwd = folder('orders');
    await run(
      cwd,
      `${join(ROOT, 'node_modules', '.bin', 'cdk')} init app --language typescript --generate-only`,
    );
    await run(cwd, create(given));
    await use(cwd);
  },
  /** The commands of README and docs/FIRST-PROJECT.md, run in a clean clone. */
  printed: ({ onPacked }) => followPages(onPacked),
  /**
   * A project as `npm create steadfast` creates it: ES modules, vitest, the newest CDK; and a reader's first
   * workflow.
   */
  [FIRST]: async (given) => {
    const cwd = await created(given, FIRST);
    onlyOne(cwd, 'constructs');
    await redTestSaysWhy(cwd);
    followFirstProject(cwd);
    await use(cwd);
    await declares(cwd, `npx --yes --package ${OLDEST_TYPESCRIPT} tsc`);
  },
  /** A CDK app in a workspace of pnpm: ES modules, vitest, the oldest CDK that `peerDependencies` allows. */
  'pnpm-workspace': async ({ tarball, createTarball }) => {
    await usePrograms('pnpm', PNPM);
    const root = folder('workspace');
    write(root, {
      'package.json': '{ "name": "shop", "private": true }',
      'pnpm-workspace.yaml': 'packages:\n  - apps/*\n',
    });
    const cwd = join(root, 'apps', 'orders');
    writeApp(cwd, 'orders', FLOOR);
    await run(cwd, `pnpm --package ${createTarball} dlx create-steadfast --package ${tarball}`);
    await run(root, 'pnpm install --frozen-lockfile');
    onlyOne(root, 'constructs');
    onlyOne(root, 'aws-cdk-lib');
    await checked(cwd, 'pnpm');
    await tryOnce(cwd);
  },
  /** Agents in containers, one of them a Python program: synthesised, and run beside the local cloud. */
  containers: async (given) => {
    const cwd = await created(given, 'containers');
    const file = join(cwd, 'workflows', 'hello-greeting', 'workflow.ts');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(/effect: '\w+',/g, "$& runsIn: 'container',"));
    write(cwd, CONTAINERS);
    const inImage = /post-greeting\/(?:Dockerfile|main\.mjs|post-greeting\/main\.py)$/;
    const said = await use(cwd);
    const image = readdirSync(join(cwd, 'cdk.out'), { recursive: true, encoding: 'utf8' });
    const found = image.filter((path) => inImage.test(path));
    check(found.length === 3, `the image has no Dockerfile, main.mjs and main.py, but ${found.join(', ')}`);
    check(said.includes(PYTHON), `the program in Python did not do the work:\n${said.slice(-4_000)}`);
  },
  /** Stages as stacks, and two Steadfasts in one stack, with the resources that start their workflow. */
  'two-stacks': async (given) => {
    const cwd = await created(given, 'two-stacks');
    write(cwd, SEVERAL);
    await run(cwd, 'npx tsc');
    // Synthesising one stage builds all stages.
    await refused(
      cwd,
      'npx steadfast dev --port 0 --stack Shop',
      'choose with --name one of: Shop/Payments, Shop/Reports',
    );
    await tryIt(cwd, ' --stack Shop --name Reports');
  },
  /** An application that starts executions: no CDK, one small module. */
  client: async ({ tarball }) => {
    const cwd = folder('client');
    writeFileSync(join(cwd, 'package.json'), '{ "name": "client", "private": true, "type": "module" }');
    await run(cwd, `npm install ${tarball} --omit=optional`);
    writeFileSync(join(cwd, 'main.js'), "export { createClient } from 'steadfast/client';\n");
    const esbuild = join(ROOT, 'node_modules', '.bin', 'esbuild');
    await run(cwd, `${esbuild} main.js --bundle --minify --format=esm --outfile=out.js --metafile=meta.json`);
    const { inputs } = JSON.parse(readFileSync(join(cwd, 'meta.json'), 'utf8')) as {
      readonly inputs: object;
    };
    const clientKB = Math.round((statSync(join(cwd, 'out.js')).size / 1024) * 10) / 10;
    check(clientKB <= MAX_CLIENT_KB, `the client has ${clientKB} KB; ${MAX_CLIENT_KB} are allowed`);
    const foreign = Object.keys(inputs).filter(
      (path) => path.includes('node_modules/') && !path.includes('/steadfast/'),
    );
    check(foreign.length === 0, `the client loads ${foreign.join(', ')}`);
    await run(
      cwd,
      `node -e "import('steadfast/client').then((m) => m.createClient({ url: 'http://127.0.0.1:1' }))"`,
    );
    await run(
      cwd,
      `node --input-type=commonjs -e "require('steadfast/client').createClient({ url: 'http://127.0.0.1:1' })"`,
    );
    const clientInstallMB = Math.round(Number((await run(cwd, 'du -sk node_modules')).split('\t')[0]) / 1024);
    check(!readdirSync(join(cwd, 'node_modules')).includes('aws-cdk-lib'), 'a client installs aws-cdk-lib');
    return { clientKB, clientInstallMB };
  },
};
