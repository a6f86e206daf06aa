/**
 * The steps in which a release is deployed: CloudFormation makes or removes one index of a table in an
 * update, and does not wait until a new index can be read
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html).
 *
 * Owns: which templates are deployed, in which order. Pure. Does not own: how one is deployed (`deploy.ts`).
 *
 * U1 code runs only where all its indexes can be read: each new index comes alone, in the deployed template,
 *    and the release after all of them.
 * U2 each template differs from the one before by one index of one table at most, or is the release.
 * U3 what is left follows from what is deployed, so an upgrade that was interrupted goes on.
 */

import { CliError, EXIT } from '../io.ts';

export type Values = Readonly<Record<string, unknown>>;
export interface Template extends Values {
  readonly Resources: Readonly<Record<string, Values>>;
}

export interface Step {
  readonly kind: 'add-index' | 'release' | 'remove-index';
  /** Which one is added or removed. */
  readonly index?: string;
  readonly template: Template;
}

const TABLE = 'AWS::DynamoDB::Table';

/**
 * @param deployed nothing where there is no such stack yet: a new table is made with all its indexes
 * @throws CliError `index-changed`
 */
export function stepsOf(deployed: Template | undefined, wanted: Template): Step[] {
  if (deployed === undefined) return [{ kind: 'release', template: wanted }];
  const tables = Object.keys(wanted.Resources).filter(
    (id) => wanted.Resources[id]?.['Type'] === TABLE && deployed.Resources[id]?.['Type'] === TABLE,
  );
  const steps: Step[] = [];
  let now = deployed;
  for (const id of tables)
    for (const index of missing(wanted, now, id)) {
      now = withIndex(now, id, index, wanted);
      steps.push({ kind: 'add-index', index: nameOf(index), template: now });
    }
  const gone = tables.flatMap((id) => missing(deployed, wanted, id).map((index) => ({ id, index })));
  // In one order, wherever it is interrupted; the first goes with the release, which adds none.
  gone.sort((a, b) => (`${a.id} ${nameOf(a.index)}` < `${b.id} ${nameOf(b.index)}` ? -1 : 1));
  const [, ...later] = gone;
  const rest = later.reduceRight<Template[]>(
    (made, { id, index }) => [withIndex(made[0] ?? wanted, id, index, deployed), ...made],
    [],
  );
  steps.push({ kind: 'release', template: rest[0] ?? wanted });
  later.forEach(({ index }, at) =>
    steps.push({ kind: 'remove-index', index: nameOf(index), template: rest[at + 1] ?? wanted }),
  );
  return steps;
}

/** The indexes of a table that are in one template and not in the other. */
function missing(from: Template, to: Template, id: string): Values[] {
  const there = indexesOf(to, id);
  return indexesOf(from, id).filter((index) => {
    const same = there.find((other) => nameOf(other) === nameOf(index));
    if (same !== undefined && shapeOf(same) !== shapeOf(index))
      throw new CliError(
        'index-changed',
        `the index '${nameOf(index)}' of the table ${id} has other keys or attributes in the release; an index cannot be changed, so a release gives it another name`,
        EXIT.failed,
      );
    return same === undefined;
  });
}

const propertiesOf = (template: Template, id: string): Values =>
  Object(template.Resources[id]?.['Properties']) as Values;
const listOf = (value: unknown): readonly Values[] => (Array.isArray(value) ? (value as Values[]) : []);
const indexesOf = (template: Template, id: string): readonly Values[] =>
  listOf(propertiesOf(template, id)['GlobalSecondaryIndexes']);
const nameOf = (index: Values): string => String(index['IndexName']);
const shapeOf = ({ KeySchema, Projection }: Values): string => JSON.stringify([KeySchema, Projection]);

/** The template with one index more, and with the attributes of its keys as the other template has them. */
function withIndex(template: Template, id: string, index: Values, other: Template): Template {
  const properties = propertiesOf(template, id);
  const indexes = [...indexesOf(template, id), index];
  const used = new Set(
    [properties, ...indexes].flatMap((each) =>
      listOf(each['KeySchema']).map(({ AttributeName }) => AttributeName),
    ),
  );
  const defined = [template, other].flatMap((each) => listOf(propertiesOf(each, id)['AttributeDefinitions']));
  const byName = new Map(defined.map((each) => [each['AttributeName'], each]));
  const Properties = {
    ...properties,
    AttributeDefinitions: [...byName].filter(([name]) => used.has(name)).map(([, each]) => each),
    GlobalSecondaryIndexes: indexes,
  };
  return {
    ...template,
    Resources: { ...template.Resources, [id]: { ...template.Resources[id], Properties } },
  };
}
