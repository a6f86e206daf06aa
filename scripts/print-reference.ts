/**
 * Prints docs/REFERENCE.md: the options of an author, a caller, a tester and a deployer, from the comments of
 * types.
 *
 * Owns: which types are shown, in which order, and how. Does not own: the texts (`lib`, `kit`) and how they
 * are read (`contract/members.ts`).
 */

import {
  type Declaration,
  declarationIn,
  type Doc,
  functionIn,
  type Member,
  parametersOf,
} from './contract/members.ts';

const HEAD = `# Reference

Every option and method with its default, as an editor's hover shows it. \`npm run docs\` prints this page from the comments
in the code. Durations are texts such as \`'90s'\`, \`'15m'\`, \`'2h'\`, \`'30d'\`. Commands: [COMMAND-LINE.md](COMMAND-LINE.md).
Routes: [HTTP.md](HTTP.md).
`;

const AGENT = 'lib/core/plan/agent.ts';
const ANSWERS = 'lib/core/plan/answers.ts';
const READY = 'lib/ready/declaration.ts';
const BUILDER = 'lib/author/builder';
const STEPS = `${BUILDER}/waiting-steps.ts`;
const REFERENCES = 'lib/author/references.ts';
const TRIGGERS = 'lib/author/triggers/trigger-declaration.ts';
const WEBHOOK = 'lib/author/triggers/webhook.ts';
const CLIENT = 'lib/api/typed-client.ts';
const CALLS = 'lib/api/call-options.ts';

const CONDITIONS =
  'eq ne lt gt lte gte isIn matches exists succeeded failed skipped and or not length concat orElse required';
/** The groups of a client, by the name of their type. */
const GROUPS = {
  questions: 'Questions',
  callbacks: 'Callbacks',
  bulk: 'Bulks',
  workflows: 'DeployedWorkflows',
  agents: 'DeployedAgents',
};

const cell = (text: string): string => text.replaceAll('|', '\\|');
const code = (text: string): string => (text.includes('`') ? text : `\`${text}\``);
/** Paths cited in a comment have no page of their own to link to. */
const sentence = ({ text, tags }: Doc): string => {
  const more = [
    ...(tags['param'] ?? []).map((given) => given.replace(/^(\w+) /, '`$1`: ')),
    ...(tags['returns'] ?? []),
  ];
  return [text, ...more.map((one) => (/[.:]$/.test(one) ? one : `${one}.`))]
    .filter((one) => one !== '')
    .join(' ');
};
const usual = ({ tags, isOptional }: Member): string => {
  const [said] = tags['default'] ?? [];
  if (said === undefined) return isOptional ? '–' : 'required';
  return said.replace(/^- /, '');
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

/** One table of options: those of a type, and of the types that it extends, if they are shown with it. */
const options = (...declared: readonly Declaration[]): string =>
  table(
    ['option', 'type', 'default', 'what it is'],
    declared.flatMap(({ members }) =>
      members.map((one) => [code(one.name), code(one.type), usual(one), sentence(one)]),
    ),
  );

const calls = (prefix: string, members: readonly Member[], signatures: (one: Member) => string): string =>
  table(
    ['call', 'what it does'],
    members.map((one) => [code(`${prefix}${one.name}${signatures(one)}`), sentence(one)]),
  );
const given = (signature: string): string => `(${parametersOf(signature).join(', ')})`;
const methods = (prefix: string, { members }: Declaration): string =>
  calls(prefix, members, ({ type }) => (/^[(<]/.test(type) ? given(type) : ''));

const examplesOf = ({ tags }: Doc): string =>
  (tags['example'] ?? []).map((text) => `\n\n\`\`\`ts\n${text}\n\`\`\``).join('');
const throwsOf = ({ tags }: Doc): string => {
  const said = tags['throws'] ?? [];
  return said.length === 0 ? '' : `\n\nThrows ${said.join('; ')}.`;
};
const called = (path: string, name: string): string => {
  const found = functionIn(path, name);
  return `${sentence(found)}${examplesOf(found)}${throwsOf(found)}`;
};

function agentPart(): string {
  const verdicts = ['done', 'notDone', 'running', 'cannotTell', 'accepted'].map((name) => {
    const found = functionIn(ANSWERS, name);
    return [code(`${name}(…)`), sentence(found)];
  });
  const errors = ['TransientError', 'PermanentError'].map((name) => [
    code(name),
    sentence(declarationIn('lib/core/values/errors.ts', name)),
  ]);
  return `## agent(name, options)

${called('lib/index.ts', 'agent')}

${options(declarationIn(AGENT, 'AgentOptions'))}

### What an attempt is given: ctx

${options(declarationIn(AGENT, 'AttemptContext')).replaceAll('| required |', '| always |').replace('default', 'given')}

### What a probe answers

${table(['answer', 'what it says'], verdicts)}

### What an attempt throws

${table(['error', 'what it says'], errors)}

### httpAgent(name, options)

${called('lib/index.ts', 'httpAgent')}

${options(declarationIn(READY, 'HttpAgentOptions'))}

A request:

${options(declarationIn(READY, 'HttpRequest'))}

### invoke(name, options)

${called('lib/index.ts', 'invoke')}

${options(declarationIn(READY, 'InvokeOptions'), declarationIn(READY, 'Invocation'))}

### publish(name, options)

${called('lib/index.ts', 'publish')}

${options(declarationIn(READY, 'PublishOptions'))}

### secret(env, where)

${called('lib/index.ts', 'secret')}

${options(declarationIn(READY, 'SecretOptions'))}

### remoteAgent(agent, target)

${called('lib/index.ts', 'remoteAgent')}
`;
}

/** The steps that a builder declares, each with its own options. */
function stepsPart(): string {
  const builder = declarationIn(`${BUILDER}/workflow.ts`, 'WorkflowBuilder');
  const own: Readonly<Record<string, readonly Declaration[]>> = {
    step: [declarationIn(`${BUILDER}/draft.ts`, 'StepOptions')],
    wait: [declarationIn(STEPS, 'WaitOptions')],
    callback: [declarationIn(STEPS, 'AnswerOptions'), declarationIn(STEPS, 'CallbackOptions')],
    approval: [declarationIn(STEPS, 'AnswerOptions'), declarationIn(STEPS, 'ApprovalOptions')],
    child: [declarationIn(STEPS, 'ChildOptions')],
    map: [declarationIn(STEPS, 'MapLimits')],
    repeat: [declarationIn(`${BUILDER}/rounds.ts`, 'RepeatOptions')],
  };
  const several: Readonly<Record<string, string>> = { map: 'MapBuilder' };
  const sections = builder.members
    .filter(({ name }) => name in own || name === 'onFailure')
    .map((one) => {
      const shape = several[one.name];
      const signature = shape === undefined ? one.type : declarationIn(`${BUILDER}/workflow.ts`, shape).call;
      const shown = own[one.name];
      const listed =
        shown === undefined
          ? 'Its options are those of `w.step` but for `undo`, `retryUndo`, `pointOfNoReturn`, `mayFail` and `within`.'
          : options(...shown);
      return `### w.${one.name}${given(signature ?? '')}\n\n${sentence(one)}${examplesOf(one)}\n\n${listed}\n`;
    });
  const common = [declarationIn(STEPS, 'AnyStepOptions'), declarationIn(STEPS, 'MayFailOptions')];
  return `### Options of every step\n\n${options(...common)}\n\n${sections.join('\n')}`;
}

const workflowPart = (): string => `## workflow(name, options, build)

${called(`${BUILDER}/workflow.ts`, 'workflow')}

${options(declarationIn(`${BUILDER}/draft.ts`, 'WorkflowOptions'))}

### concurrency

${options(declarationIn(`${BUILDER}/draft.ts`, 'ConcurrencyOptions'))}

${stepsPart()}
### recovery

${table(
  ['stage', 'what it does'],
  ['retry', 'withInput', 'useAgent', 'askPerson'].map((name) => [
    code(`${name}(…)`),
    sentence(functionIn(`${BUILDER}/recovery-options.ts`, name)),
  ]),
)}

${options(declarationIn(`${BUILDER}/recovery-options.ts`, 'AskPersonOptions'))}

### Conditions and values

${table(
  ['function', 'what it says', 'example'],
  CONDITIONS.split(' ').map((name) => {
    const found = functionIn(REFERENCES, name);
    return [code(`${name}(…)`), sentence(found), ...(found.tags['example']?.slice(0, 1).map(code) ?? ['–'])];
  }),
)}
`;

const triggersPart = (): string => `## Triggers

${['onObjectCreated', 'onEvent', 'onSchedule', 'onMessage', 'onWebhook']
  .map((name) => `### ${name}(workflow, options)\n\n${called(TRIGGERS, name)}\n`)
  .join('\n')}
### Options of triggers

${options(
  ...['TriggerOptions', 'SendingOptions', 'ObjectSource', 'KeyFilter', 'EventSource', 'ScheduleSource'].map(
    (name) => declarationIn(TRIGGERS, name),
  ),
)}

### Options of webhooks

${options(declarationIn(TRIGGERS, 'WebhookSource'), declarationIn(TRIGGERS, 'AnswerOptions'))}

### hmacSha256(options)

${called(WEBHOOK, 'hmacSha256')}

${options(declarationIn(WEBHOOK, 'HmacOptions'))}
`;

/** Groups name calls of the plain client, whose parameters they have. */
function clientPart(): string {
  const plain = new Map(declarationIn('lib/api/client.ts', 'Client').members.map((one) => [one.name, one]));
  const flat = ['why', 'list', 'cancel', 'pause', 'resume', 'retry', 'send', 'erase', 'health', 'overview'];
  const own = declarationIn(CLIENT, 'Client').members;
  const members = [...own, ...flat.flatMap((name) => plain.get(name) ?? [])];
  const groups = Object.entries(GROUPS).map(([group, type]) => {
    const taken = ({ type: named }: Member): string =>
      given(plain.get(/'(\w+)'/.exec(named)?.[1] ?? '')?.type ?? '()');
    const declared = declarationIn(CLIENT, type);
    return `### client.${group}\n\n${sentence(declared)}\n\n${calls(`client.${group}.`, declared.members, taken)}\n`;
  });
  const taken =
    'StartOptions RunOptions ListOptions CommandOptions CancelOptions RetryOptions PauseOptions WaitForEndOptions';
  const lists = taken.split(' ').map((name) => {
    const declared = declarationIn(CALLS, name);
    const base = declared.extended === '' ? '' : `\n\nAnd those of \`${declared.extended}\`.`;
    return `### ${name}\n\n${sentence(declared)}${base}\n\n${options(declared)}\n`;
  });
  return `## createClient(options)

${called(CLIENT, 'createClient')}

${options(declarationIn(CLIENT, 'HowToCall'))}

### Calls

${calls('client.', members, ({ type }) => given(type))}

${[...groups, ...lists].join('\n')}`;
}

function testPart(): string {
  const kit = (file: string, name: string): Declaration => declarationIn(`kit/${file}.ts`, name);
  return `## testWorkflow(workflow, options)

${called('kit/test-workflow.ts', 'testWorkflow')}

${options(kit('workflow-test', 'TestOptions'))}

### The trial

${methods('trial.', kit('workflow-test', 'WorkflowTest'))}

${options(kit('agent-calls', 'FaultOptions'))}

### A run

${methods('run.', kit('test-run', 'TestRun'))}

## crashEverywhere(workflow, options)

${called('kit/crash-everywhere.ts', 'crashEverywhere')}

${options(kit('crash-everywhere', 'CrashOptions'))}

## startServer(options)

${called('kit/test-workflow.ts', 'startServer')}

${options(kit('server/test-server', 'TestServerOptions'))}

## startCloud(options)

${called('kit/test-workflow.ts', 'startCloud')}

${options(kit('cloud/local-cloud', 'LocalCloudOptions'))}

${methods('cloud.', kit('cloud/local-cloud', 'LocalCloud'))}
`;
}

function stackPart(): string {
  const infra = (file: string, name: string): Declaration => declarationIn(`lib/infra/${file}.ts`, name);
  const props = infra('steadfast-props', 'SteadfastProps');
  return `## new Steadfast(scope, id, props)

${sentence(props)}

${options(props)}

### tuning

${sentence(infra('steadfast-props', 'Tuning'))}

${options(infra('steadfast-props', 'Tuning'))}

### agentSettings

Settings of single agents, by the agent's name.

${options(infra('agent-settings', 'AgentSettings'))}

### new SteadfastStack(scope, id, props)

${sentence(infra('steadfast-stack', 'SteadfastStack'))} It takes these beside those of \`Steadfast\`.

${options(infra('steadfast-stack', 'SteadfastStackProps'))}
`;
}

export const printReference = (): string =>
  [HEAD, agentPart(), workflowPart(), triggersPart(), clientPart(), testPart(), stackPart()].join('\n');
