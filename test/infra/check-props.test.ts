/** Settings and grants that would do nothing are refused, with what to write instead. */

import { HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  HttpIamAuthorizer,
  HttpJwtAuthorizer,
  HttpLambdaAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { ApplicationLogLevel, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Lazy, Stack } from 'aws-cdk-lib/core';
import type { AgentSettings } from '../../lib/infra/agent-settings.ts';
import { SteadfastStack, type SteadfastStackProps } from '../../lib/infra/steadfast-stack.ts';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { FOUND } from './fixture.ts';
import { makeApp, makeStack } from './template.ts';

const other = new Stack();
const topic = Topic.fromTopicArn(other, 'Topic', 'arn:aws:sns:us-east-1:123456789012:own');
const jwt = () => new HttpJwtAuthorizer('Tokens', 'https://id.example', { jwtAudience: ['shop'] });

describe('without alarms', () => {
  const stackWith = (props: Partial<SteadfastStackProps>): SteadfastStack =>
    new SteadfastStack(makeApp(), 'Test', { workflows: FOUND, ...props });

  test.each<[string, Partial<SteadfastStackProps>]>([
    ['alarmEmail', { alarmEmail: 'on-call@shop.example' }],
    ['alarmTopic', { alarmTopic: topic }],
    ['failureAlarmPercent', { failureAlarmPercent: 5 }],
    ['alarmTopic, failureAlarmPercent', { alarmTopic: topic, failureAlarmPercent: 5 }],
  ])('%s is refused', (names, props) => {
    const refusal = `${names}: with monitoring: 'none' there are no alarms; leave it out, or write monitoring: 'alarms'`;
    expect(() => stackWith({ monitoring: 'none', ...props })).toThrow(refusal);
    expect(() => stackWith({ settings: () => ({ monitoring: 'none' }), ...props })).toThrow(refusal);
    expect(() => stackWith({ monitoring: 'alarms', ...props })).not.toThrow();
  });

  test('the stack alone is fine, and an alarm of your own over the canary possible', () => {
    const stack = stackWith({ monitoring: 'none' });
    expect(stack.steadfast.metric('CanaryEnded').metricName).toBe('CanaryEnded');
  });
});

describe('of the API', () => {
  const refused = (props: Partial<SteadfastProps>, message: string) =>
    expect(() => makeStack(props)).toThrow(message);

  test('scopes are refused for calls whose authorizer takes none, and unknown kinds of calls', () => {
    const answers = { scopes: { callback: ['shop/answer'] } };
    refused({ callbackAuthorizer: jwt(), scopes: { start: ['shop/order'] } }, 'scopes.start: the authorizer');
    expect(() => makeStack({ callbackAuthorizer: jwt(), ...answers })).not.toThrow();
    const misspelled = { starts: [] } as Partial<SteadfastProps['scopes']>;
    refused({ authorizer: jwt(), scopes: misspelled as object }, "did you mean 'start'?");
  });

  test('roles of persons are refused where no caller has a role', () => {
    const personalRoles = ['Approver'];
    const why = 'personalRoles: no caller has a role, because no authorizer is of IAM';
    refused({ personalRoles, authorizer: jwt() }, why);
    refused({ personalRoles, authorizer: jwt(), callbackAuthorizer: new HttpNoneAuthorizer() }, why);
    const fn = LambdaFunction.fromFunctionArn(
      other,
      'Who',
      'arn:aws:lambda:us-east-1:123456789012:function:who',
    );
    refused({ personalRoles, authorizer: new HttpLambdaAuthorizer('Own', fn) }, why);
    expect(() => makeStack({ personalRoles })).not.toThrow();
    const callbackAuthorizer = new HttpIamAuthorizer();
    expect(() => makeStack({ personalRoles, authorizer: jwt(), callbackAuthorizer })).not.toThrow();
  });
});

describe('of an agent', () => {
  const refused = (settings: AgentSettings, message: string, as: object = {}) => {
    const agents = FOUND.agents.map((one) => (one.name === 'pay' ? { ...one, ...as } : one));
    expect(() => makeStack({ workflows: { ...FOUND, agents }, agentSettings: { pay: settings } })).toThrow(
      `agent 'pay': ${message}`,
    );
  };

  test('what concerns a shared function is refused for a function of its own', () => {
    refused(
      { carryOn: true },
      "carryOn: it shares no function: set host, or hosting: 'shared'; or leave out",
    );
    refused({ longHost: true }, 'longHost: it shares no function');
    const isolated = { isolate: true };
    refused({ carryOn: true }, 'carryOn: it shares no function, for it has processes of its own', isolated);
    const agentSettings = { pay: { carryOn: true, longHost: true }, mail: { longHost: true } };
    expect(() => makeStack({ hosting: 'shared', agentSettings })).not.toThrow();
    expect(() => makeStack({ agentSettings: { pay: { carryOn: false } } })).not.toThrow();
  });

  test('what concerns code is refused where there is none, and of an image of your own', () => {
    refused({ files: ['./a.txt'] }, 'files: its work is declared, and has no code that reads it', {
      declared: {},
    });
    const container = {
      vpc: new Vpc(new Stack(), 'Vpc') as never,
      image: ContainerImage.fromRegistry('own'),
    };
    const inContainer = { runsIn: 'container' };
    refused({ container, nodeModules: ['sharp'] }, 'nodeModules: put it into your own image', inContainer);
  });

  test('what concerns a service is refused where no service of the stack runs it', () => {
    const settings = { environment: { A: '1' }, logLevel: ApplicationLogLevel.DEBUG };
    const inContainer = { runsIn: 'container' };
    refused(settings, 'environment, logLevel: no service of this stack runs it; set it where', inContainer);
  });
});

test('a grant for a workflow that does not exist is refused', () => {
  const stack = makeStack();
  const { steadfast } = stack;
  const shop = new Role(stack, 'Shop', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  const names = FOUND.workflows.map(({ name }) => name).join(', ');
  for (const grant of ['grantStart', 'grantRun', 'grantSend'] as const) {
    expect(() => steadfast[grant](shop, 'ordr')).toThrow(
      `no workflow is named 'ordr'; did you mean 'order'? There are ${names}`,
    );
    expect(() => steadfast[grant](shop, 'or.er')).toThrow(`no workflow is named 'or.er'`);
    for (const name of ['order', '*', 'ord*', Lazy.string({ produce: () => 'order' })])
      expect(steadfast[grant](shop, name).success).toBe(true);
  }
});
