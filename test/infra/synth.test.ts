import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { App, Stack } from 'aws-cdk-lib/core';
import { addSteadfast, createApp, synthesize } from '../../lib/infra/synth.ts';
import { AGENT_MODULE, project, workflowModule } from './fixture.ts';

const root = project({
  'order/workflow.ts': workflowModule('order', ['pay']),
  'order/agents/pay.ts': AGENT_MODULE,
  'report/workflow.ts': workflowModule('report', ['mail']),
  'report/agents/mail.ts': AGENT_MODULE,
});
const templateOf = (assembly: string, stackName: string): string =>
  readFileSync(join(assembly, `${stackName}.template.json`), 'utf8');

test('the same input gives the same template, some folders a smaller one', async () => {
  const base = { folders: [root], bundling: false, validation: false };
  const text = async (options: object) => {
    const { assembly, stackName } = await synthesize({ ...base, outdir: project(), ...options });
    return templateOf(assembly, stackName);
  };
  const whole = await text({});
  expect(await text({})).toBe(whole);
  const part = await text({ only: ['report'] });
  expect([whole.includes('Agentspay'), part.includes('Agentspay')]).toEqual([true, false]);
  expect(part).toContain('Agentsmail');
});

test('a stage has a stack of its own; one without settings is refused', async () => {
  const base = { folders: [root], bundling: false, validation: false };
  expect(await synthesize({ ...base, outdir: project(), stage: 'prod' })).toMatchObject({
    stackName: 'Steadfast-prod',
  });
  await expect(synthesize({ ...base, outdir: project(), stage: 'test' })).rejects.toThrow(
    "stage is \"test\"; there are 'dev', 'prod'. Add another in bin/app.ts",
  );
});

const appWith = (context: Readonly<Record<string, unknown>>): App =>
  createApp({
    outdir: project(),
    builtinCloudFormationValidation: false,
    context: { 'aws:cdk:bundling-stacks': [], 'steadfast:folders': [root], ...context },
  });

test('folders that are named have a stack of their own, in whatever order, and others another', async () => {
  const nameOf = async (only: unknown) =>
    (await addSteadfast(appWith({ 'steadfast:only': only }), { deployed: ['order'] })).stackName;
  expect(await nameOf('report')).toBe('Steadfast-dev-report');
  expect(await nameOf('report,order')).toBe('Steadfast-dev-order--report');
  expect(await nameOf(['order', 'report'])).toBe('Steadfast-dev-order--report');
  await expect(nameOf([])).rejects.toThrow('steadfast:only is []');
});

test('without a name what the app deploys is in the stage’s stack, and with a star everything', async () => {
  const agentsOf = async (context: object) => {
    const stack = await addSteadfast(appWith({ ...context }), { deployed: ['order'] });
    return [stack.stackName, ...stack.steadfast.agents.keys()];
  };
  expect(await agentsOf({})).toEqual(['Steadfast-dev', 'pay']);
  expect(await agentsOf({ 'steadfast:only': '*' })).toEqual(['Steadfast-dev', 'pay', 'mail']);
});

test('a stage makes what it needs in the stack that it is for', async () => {
  const app = appWith({ stage: 'qa' });
  const qa = (stack: Stack) => ({
    encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }),
    agentSettings: { pay: { memorySize: 1_024 } },
  });
  const stack = await addSteadfast(app, { stages: { qa } });
  expect(stack.stackName).toBe('Steadfast-qa');
  const template = JSON.stringify(Template.fromStack(stack).toJSON());
  expect(template).toContain('"MemorySize":1024');
  expect(template).toContain('"KmsMasterKeyId"');
});

test('an example’s agents are within the limits of a Lambda function', async () => {
  const { assembly, stackName } = await synthesize({ outdir: project(), bundling: false, validation: false });
  expect(templateOf(assembly, stackName)).toContain('AWS::Lambda::Function');
  expect(readdirSync(assembly).some((file) => file.startsWith('asset.'))).toBe(false);
});
