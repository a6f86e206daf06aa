/** Metrics are log lines without a level, so any setting by which Lambda would drop them is refused. */
import {
  ApplicationLogLevel,
  CfnFunction,
  Code,
  Function,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { Aspects, Duration, Stack } from 'aws-cdk-lib/core';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import type { SteadfastStackProps } from '../../lib/infra/steadfast-stack.ts';
import { FOUND } from './fixture.ts';
import { makeApp, makeStack, Reader } from './template.ts';

const { WARN, ERROR, FATAL, INFO } = ApplicationLogLevel;
const refusals = (build: () => unknown): string[] => {
  try {
    build();
    return [];
  } catch (error) {
    return String(error).match(/\S+: at the application log level \w+/g) ?? [String(error)];
  }
};
const synthesised = (props: Partial<SteadfastStackProps>) => () => new Reader(makeStack(props));

test.each([WARN, ERROR, FATAL])('a deployment at %s is refused, with what to write', (logLevel) => {
  const build = synthesised({ logLevel });
  expect(refusals(build).length).toBeGreaterThan(5);
  expect(build).toThrow(/drops this function's metrics.*leave out logLevel/s);
});

test('so is one agent', () => {
  expect(refusals(synthesised({ agentSettings: { pay: { logLevel: WARN } } }))).toEqual([
    expect.stringMatching(/Agents\/pay\/Function\/Resource: at the application log level WARN/),
  ]);
});

test.each([
  [
    'a property',
    (node: CfnFunction) => void (node.loggingConfig = { logFormat: 'JSON', applicationLogLevel: 'ERROR' }),
  ],
  [
    'an override',
    (node: CfnFunction) => node.addPropertyOverride('LoggingConfig.ApplicationLogLevel', 'ERROR'),
  ],
])('so is what an Aspect sets by %s', (_, set) => {
  const build = (): unknown => {
    const stack = makeStack();
    Aspects.of(stack).add({ visit: (node) => void (node instanceof CfnFunction && set(node)) });
    return new Reader(stack);
  };
  expect(refusals(build)).toContainEqual(
    expect.stringMatching(/Supervisor\S+: at the application log level ERROR/),
  );
});

test("so is an agent's function of your own", () => {
  const build = (): unknown => {
    const stack = new Stack(makeApp(), 'Own');
    const own = new Function(stack, 'Own', {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('x'),
      timeout: Duration.minutes(5),
      loggingFormat: 'JSON' as never,
      applicationLogLevelV2: WARN,
    });
    const agentSettings = { pay: { function: own as never } };
    const steadfast = new Steadfast(stack, 'Steadfast', { workflows: FOUND, agentSettings });
    return new Reader(Stack.of(steadfast) as never);
  };
  expect(refusals(build)).toEqual([expect.stringMatching(/^Own\/Own\/Resource: at/)]);
});

test("Lambda's own lines are written from WARN on, or as is set, and none of ours is dropped", () => {
  const configs = (props: Partial<SteadfastStackProps>): unknown[] =>
    new Reader(makeStack(props))
      .ofType('AWS::Lambda::Function')
      .map(({ Properties }) => Properties['LoggingConfig']);
  for (const config of configs({ logLevel: INFO }))
    expect(config).toMatchObject({ ApplicationLogLevel: 'INFO', SystemLogLevel: 'WARN' });
  for (const config of configs({ systemLogLevel: SystemLogLevel.INFO }))
    expect(config).toMatchObject({ SystemLogLevel: 'INFO' });
});
