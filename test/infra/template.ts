/** Reads a synthesised template by the paths of its constructs, so that tests need no logical ids. */

import { Template } from 'aws-cdk-lib/assertions';
import { type App, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { createApp } from '../../lib/infra/synth.ts';
import { SteadfastStack, type SteadfastStackProps } from '../../lib/infra/steadfast-stack.ts';
import { FOUND, project } from './fixture.ts';

export interface Resource {
  readonly id: string;
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Metadata?: Record<string, string>;
}

export interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/**
 * An app without code and without CloudFormation's own rules, which `foreign.test.ts` checks: they take
 * seconds.
 */
export const makeApp = (): App =>
  createApp({
    outdir: project(),
    builtinCloudFormationValidation: false,
    treeMetadata: false,
    context: { 'aws:cdk:bundling-stacks': [] },
  });

/** Removal policies, of a stage like 'dev' and of one like 'prod'. */
export const FATES = { dev: RemovalPolicy.DESTROY, prod: RemovalPolicy.RETAIN } as const;

export const makeStack = (props: Partial<SteadfastStackProps> = {}): SteadfastStack =>
  new SteadfastStack(makeApp(), 'Test', { workflows: FOUND, removalPolicy: FATES.dev, ...props });

/** A global table's entry for its only region. */
export const replicaOf = ({ Properties }: Resource): Readonly<Record<string, unknown>> =>
  (Properties['Replicas'] as readonly Readonly<Record<string, unknown>>[])[0] ?? {};

export class Reader {
  readonly all: readonly Resource[];
  readonly template: Template;

  constructor(stack: Stack) {
    this.template = Template.fromStack(stack);
    const { Resources } = this.template.toJSON() as { Resources: Record<string, Omit<Resource, 'id'>> };
    this.all = Object.entries(Resources).map(([id, resource]) => ({ id, ...resource }));
  }

  ofType(type: string): Resource[] {
    return this.all.filter((resource) => resource.Type === type);
  }

  /** The one resource of a type below a construct: ('AWS::SQS::Queue', 'Agents/pay/Queue'). */
  one(type: string, path: string): Resource {
    const found = this.ofType(type).filter((resource) =>
      resource.Metadata?.['aws:cdk:path']?.startsWith(`Test/Steadfast/${path}/`),
    );
    if (found.length !== 1) throw new Error(`${found.length} resources of ${type} at ${path}`);
    return found[0]!;
  }

  functionOf(path: string): Resource {
    return this.one('AWS::Lambda::Function', path);
  }

  environmentOf(path: string): Record<string, unknown> {
    const environment = this.functionOf(path).Properties['Environment'] as {
      Variables: Record<string, unknown>;
    };
    return environment.Variables;
  }

  /** The statements of a function's role. */
  statementsOf(path: string): Statement[] {
    return statementsIn(this.one('AWS::IAM::Policy', `${path}/Role`));
  }

  /**
   * The permissions of a role as lines `action resource`. A resource is named by its logical id without the
   * hash, and what follows it.
   */
  matrixOf(path: string): string[] {
    return this.statementsOf(path)
      .flatMap(({ Action, Resource }) =>
        [Action].flat().flatMap((action) => resourcesIn(Resource).map((resource) => `${action} ${resource}`)),
      )
      .sort();
  }
}

export const statementsIn = (resource: Resource): Statement[] =>
  (resource.Properties['PolicyDocument'] as { Statement: Statement[] }).Statement;

const resourcesIn = (resource: unknown): string[] =>
  (Array.isArray(resource) ? resource : [resource]).map((each) =>
    JSON.stringify(each)
      .replace(/\{"Fn::GetAtt":\["Steadfast(\w+?)[0-9A-F]{8}","Arn"\]\}/g, '$1')
      .replace(/^\{"Fn::Join":\["",\[(.*)\]\]\}$/, '$1')
      .replaceAll(/[",]/g, ''),
  );

interface Findings {
  readonly violations: readonly {
    readonly ruleName: string;
    readonly violatingResources: readonly { readonly constructPath: string }[];
  }[];
}
/**
 * A variable, so that the compiler does not read cdk-nag's types: they include every AWS service, two fifths
 * of all lines.
 */
const NAG: string = 'cdk-nag';
const { AwsSolutionsChecks } = (await import(NAG)) as {
  readonly AwsSolutionsChecks: new (stack: Stack) => { validateScope(scope: Stack): Findings };
};

/** The findings of cdk-nag's AwsSolutions rules that are not acknowledged: `rule path`. */
export const findingsOf = (stack: Stack): string[] =>
  new AwsSolutionsChecks(stack)
    .validateScope(stack)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    )
    .sort();
