/**
 * Resolves a template's resources and outputs. Pure. Does not own: files (assembly.ts), the meaning of
 * properties (stack-model.ts).
 *
 * Invariants
 * - I1 only types that run must resolve: an unsupported intrinsic in an alarm does not prevent a start.
 * - I2 resources whose `Condition` is false do not exist.
 * - I3 the export of another stack becomes a name that no resource here has, so a call to it fails. An
 *   output that needs it is refused.
 */
import { evaluate, holds, type Scope } from './intrinsics.ts';
import { isRecord, type Json, TemplateError } from './json.ts';
import {
  ALARM_TYPES,
  apiId,
  inertAttribute,
  type NamedResource,
  physicalNameOf,
  RUN_TYPES,
  type StackPlace,
} from './resource-types.ts';

/** One resource of the stack. */
export interface ResolvedResource extends NamedResource {
  readonly type: string;
  /** The value of `Ref`. */
  readonly ref: string;
  /** Resolved for types that run, and for alarms if possible; otherwise as in the template. */
  readonly properties: Readonly<Record<string, Json>>;
  /** Whether the local cloud runs it. */
  readonly runs: boolean;
  /** `Metadata` of the template: the CDK's construct path and asset path. */
  readonly metadata: Readonly<Record<string, Json>>;
  /** Exports of other stacks that the resource uses. */
  readonly imports: readonly string[];
  /** The region and account of its ARN. */
  readonly arnPlace: { readonly region: string; readonly accountId: string };
}

/** A stack with all values resolved. */
export interface ResolvedTemplate {
  readonly resources: ReadonlyMap<string, ResolvedResource>;
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * Resolves a CloudFormation template.
 * @throws TemplateError naming the resource and property that cannot be resolved
 */
export function resolveTemplate(template: Json, place: StackPlace): ResolvedTemplate {
  if (!isRecord(template)) throw new TemplateError('', 'the template is not a JSON object');
  const resolver = new Resolver(template, place);
  const resources = new Map<string, ResolvedResource>();
  for (const logicalId of resolver.logicalIds()) resources.set(logicalId, resolver.resource(logicalId));
  return { resources, outputs: resolver.outputs() };
}

function orRaw(resolve: () => Json, raw: Json): Json {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof TemplateError) return raw;
    throw error;
  }
}

class Resolver implements Scope {
  readonly #place: StackPlace;
  readonly #raw: Readonly<Record<string, Record<string, Json>>>;
  readonly #template: Readonly<Record<string, Json>>;
  readonly #names = new Map<string, string>();
  /** Imports by the resource that uses them. */
  readonly #imports = new Map<string, Set<string>>();
  #reading: string | undefined;
  /** Names being resolved, to detect a name property that refers to itself. */
  readonly #naming = new Set<string>();
  /** Pairs of an AWS address and its local one. A template may compose a queue's address from its name. */
  readonly #addresses: [string, string][] = [];

  constructor(template: Record<string, Json>, place: StackPlace) {
    this.#template = template;
    this.#place = place;
    this.#addresses.push([`https://sqs.${place.region}.amazonaws.com/`, `${place.gatewayUrl}/`]);
    const raw: Record<string, Record<string, Json>> = {};
    for (const [logicalId, resource] of Object.entries(section(template, 'Resources'))) {
      if (!isRecord(resource) || typeof resource['Type'] !== 'string') {
        throw new TemplateError(logicalId, 'a resource needs a Type');
      }
      raw[logicalId] = resource;
      if (resource['Type'] === 'AWS::ApiGatewayV2::Api') {
        const host = `https://${apiId(logicalId)}.execute-api.${place.region}.amazonaws.com`;
        this.#addresses.push([host, place.apiUrl(logicalId)]);
      }
    }
    this.#raw = raw;
  }

  logicalIds(): string[] {
    return Object.keys(this.#raw).filter((id) => this.#exists(id));
  }

  resource(logicalId: string): ResolvedResource {
    const raw = this.#rawResource(logicalId);
    const type = String(raw['Type']);
    const named = this.#named(logicalId);
    const runType = RUN_TYPES[type];
    const properties = section(raw, 'Properties');
    const resolve = (): Json => this.#read(logicalId, properties);
    const inert = ALARM_TYPES.has(type) ? orRaw(resolve, properties) : properties;
    const resolved = runType === undefined ? inert : resolve();
    return {
      ...named,
      type,
      ref: String(this.ref(logicalId)),
      properties: isRecord(resolved) ? resolved : {},
      runs: runType !== undefined,
      metadata: section(raw, 'Metadata'),
      imports: [...(this.#imports.get(logicalId) ?? [])],
      arnPlace: this.#place,
    };
  }

  #read(logicalId: string, properties: Json): Json {
    this.#reading = logicalId;
    try {
      return evaluate(properties, this, `${logicalId}.Properties`);
    } finally {
      this.#reading = undefined;
    }
  }

  imported(name: string): Json | undefined {
    if (this.#reading === undefined) return undefined;
    const known = this.#imports.get(this.#reading) ?? new Set();
    this.#imports.set(this.#reading, known.add(name));
    return `not-here:${name}`;
  }

  outputs(): Record<string, string> {
    const outputs: Record<string, string> = {};
    for (const [name, output] of Object.entries(section(this.#template, 'Outputs'))) {
      if (!isRecord(output)) continue;
      const condition = output['Condition'];
      if (typeof condition === 'string' && !this.condition(condition)) continue;
      const value = evaluate(output['Value'] ?? null, this, `Outputs.${name}.Value`);
      outputs[name] = typeof value === 'string' ? value : JSON.stringify(value);
    }
    return outputs;
  }

  ref(name: string): Json | undefined {
    const pseudo = this.#pseudo(name);
    if (pseudo !== undefined) return pseudo;
    if (Object.hasOwn(this.#raw, name)) {
      const raw = this.#rawResource(name);
      const special = this.#aliasRef(name, raw);
      if (special !== undefined) return special;
      const named = this.#named(name);
      return RUN_TYPES[String(raw['Type'])]?.ref(named, this.#place) ?? named.physicalName;
    }
    return this.#parameter(name);
  }

  attribute(logicalId: string, attribute: string): Json {
    if (!Object.hasOwn(this.#raw, logicalId)) {
      throw new TemplateError('', `Fn::GetAtt "${logicalId}.${attribute}": this stack has no such resource`);
    }
    const type = String(this.#rawResource(logicalId)['Type']);
    const runType = RUN_TYPES[type];
    if (runType === undefined) return inertAttribute(type, this.#named(logicalId), attribute, this.#place);
    const known = runType.attributes[attribute];
    if (known === undefined) {
      const supported = Object.keys(runType.attributes).join(', ') || 'none';
      throw new TemplateError(
        '',
        `Fn::GetAtt "${logicalId}.${attribute}": of ${type} supported are: ${supported}`,
      );
    }
    return known(this.#named(logicalId), this.#place);
  }

  condition(name: string): boolean {
    const conditions = section(this.#template, 'Conditions');
    const expression = conditions[name];
    if (expression === undefined)
      throw new TemplateError(`Conditions.${name}`, 'the template has no such condition');
    return holds(expression, this, `Conditions.${name}`);
  }

  mapping(map: string, topKey: string, secondKey: string): Json | undefined {
    const top = section(section(this.#template, 'Mappings'), map);
    return section(top, topKey)[secondKey];
  }

  rewrite(value: string): string {
    let result = value;
    for (const [from, to] of this.#addresses) {
      if (result.includes(from)) result = result.replaceAll(from, to);
    }
    return result;
  }

  #exists(logicalId: string): boolean {
    const condition = this.#rawResource(logicalId)['Condition'];
    return typeof condition !== 'string' || this.condition(condition);
  }

  #rawResource(logicalId: string): Record<string, Json> {
    const raw = this.#raw[logicalId];
    if (raw === undefined) throw new TemplateError(logicalId, 'this stack has no such resource');
    return raw;
  }

  #named(logicalId: string): NamedResource {
    const known = this.#names.get(logicalId);
    if (known !== undefined) return { logicalId, physicalName: known };
    if (this.#naming.has(logicalId)) throw new TemplateError(logicalId, 'its name refers to itself');
    this.#naming.add(logicalId);
    const raw = this.#rawResource(logicalId);
    const type = RUN_TYPES[String(raw['Type'])];
    const given =
      type?.nameProperty === undefined ? undefined : section(raw, 'Properties')[type.nameProperty];
    const path = `${logicalId}.Properties.${type?.nameProperty ?? ''}`;
    const explicit = given === undefined ? null : evaluate(given, this, path);
    const physicalName =
      typeof explicit === 'string'
        ? explicit
        : physicalNameOf(this.#place.stackName, logicalId, type?.maxNameLength);
    this.#naming.delete(logicalId);
    this.#names.set(logicalId, physicalName);
    return { logicalId, physicalName };
  }

  /** The Ref of a version or alias: the function's ARN with a qualifier. */
  #aliasRef(logicalId: string, raw: Record<string, Json>): string | undefined {
    const type = raw['Type'];
    if (type !== 'AWS::Lambda::Alias' && type !== 'AWS::Lambda::Version') return undefined;
    const properties = section(raw, 'Properties');
    const path = `${logicalId}.Properties`;
    const target = String(evaluate(properties['FunctionName'] ?? null, this, `${path}.FunctionName`));
    const name = /function:([^:]+)/.exec(target)?.[1] ?? target;
    const qualifier =
      type === 'AWS::Lambda::Alias' ? evaluate(properties['Name'] ?? '', this, `${path}.Name`) : '1';
    return `arn:aws:lambda:${this.#place.region}:${this.#place.accountId}:function:${name}:${String(qualifier)}`;
  }

  #pseudo(name: string): Json | undefined {
    const { stackName, region, accountId } = this.#place;
    const values: Readonly<Record<string, Json>> = {
      'AWS::Region': region,
      'AWS::AccountId': accountId,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::StackName': stackName,
      'AWS::StackId': `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`,
      'AWS::NotificationARNs': [],
    };
    return values[name];
  }

  #parameter(name: string): Json | undefined {
    const parameter = section(this.#template, 'Parameters')[name];
    if (!isRecord(parameter)) return undefined;
    const fallback = parameter['Default'];
    if (fallback === undefined) {
      throw new TemplateError(
        `Parameters.${name}`,
        'it has no Default; give it one to run the stack locally',
      );
    }
    return String(parameter['Type']).includes('List') ? String(fallback).split(',') : fallback;
  }
}

function section(parent: Readonly<Record<string, Json>>, name: string): Record<string, Json> {
  const value = parent[name];
  return isRecord(value) ? value : {};
}
