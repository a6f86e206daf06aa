import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { synthesize } from '../../lib/infra/synth.ts';
import { AGENT_MODULE, project, workflowModule } from './fixture.ts';

const root = project({
  'order/workflow.ts': workflowModule('order', ['pay']),
  'order/agents/pay.ts': AGENT_MODULE,
  'report/workflow.ts': workflowModule('report', ['mail']),
  'report/agents/mail.ts': AGENT_MODULE,
});
const templateOf = (assembly: string, stackName: string): string =>
  readFileSync(join(assembly, `${stackName}.template.json`), 'utf8');

test('an assembly passes CloudFormation’s own rules', async () => {
  const outdir = join(root, 'out');
  const { assembly, stackName } = await synthesize({ outdir, folders: [root], bundling: false });
  expect([assembly, stackName]).toEqual([outdir, 'Steadfast-dev']);
  expect(existsSync(join(assembly, 'manifest.json'))).toBe(true);
  const report = readFileSync(join(assembly, 'validation-report.json'), 'utf8');
  expect((JSON.parse(report) as { pluginReports: unknown[] }).pluginReports).toEqual([]);
});

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

test('a stage has a stack of its own; an unknown one is refused', async () => {
  const base = { folders: [root], bundling: false, validation: false };
  expect(await synthesize({ ...base, outdir: project(), stage: 'prod' })).toMatchObject({
    stackName: 'Steadfast-prod',
  });
  await expect(synthesize({ ...base, outdir: project(), stage: 'test' as never })).rejects.toThrow(
    "stage is \"test\"; allowed are 'dev', 'prod'",
  );
  await expect(synthesize({ ...base, outdir: project(), only: [] })).rejects.toThrow('steadfast:only is []');
});

test('an example’s agents are within the limits of a Lambda function', async () => {
  const { assembly, stackName } = await synthesize({
    outdir: project(),
    bundling: false,
    validation: false,
  });
  expect(templateOf(assembly, stackName)).toContain('AWS::Lambda::Function');
  expect(readdirSync(assembly).some((file) => file.startsWith('asset.'))).toBe(false);
});
