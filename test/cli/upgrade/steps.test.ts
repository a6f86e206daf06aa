/** The steps of a release: U1 to U3 of `cli/upgrade/steps.ts`. */

import * as fc from 'fast-check';
import { stepsOf, type Step, type Template, type Values } from '../../../cli/upgrade/steps.ts';

const index = (name: string, range = 'N'): Values => ({
  IndexName: name,
  KeySchema: [
    { AttributeName: `${name}Pk`, KeyType: 'HASH' },
    { AttributeName: `${name}Sk${range}`, KeyType: 'RANGE' },
  ],
  Projection: { ProjectionType: 'KEYS_ONLY' },
});
const attributes = (names: readonly string[]): Values[] =>
  ['pk', ...names.flatMap((name) => [`${name}Pk`, `${name}SkN`])].map((AttributeName) => ({
    AttributeName,
    AttributeType: AttributeName.endsWith('N') ? 'N' : 'S',
  }));
const template = (code: string, ...tables: (readonly string[])[]): Template => ({
  Resources: {
    ...Object.fromEntries(
      tables.map((names, at) => [
        `Table${at}`,
        {
          Type: 'AWS::DynamoDB::Table',
          Properties: {
            KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
            AttributeDefinitions: attributes(names),
            GlobalSecondaryIndexes: names.map((name) => index(name)),
          },
        },
      ]),
    ),
    Code: { Type: 'AWS::Lambda::Function', Properties: { Code: code } },
  },
});
interface Table {
  readonly GlobalSecondaryIndexes: readonly { readonly IndexName: string }[];
  readonly AttributeDefinitions: readonly { readonly AttributeName: string }[];
}
const tableOf = (of: Template, at: number): Table => of.Resources[`Table${at}`]?.['Properties'] as Table;
const namesOf = (of: Template, at: number): string[] =>
  tableOf(of, at).GlobalSecondaryIndexes.map(({ IndexName }) => IndexName);
const codeOf = (of: Template): unknown => Object(of.Resources['Code']?.['Properties'])['Code'];
const said = (steps: readonly Step[]): string[] =>
  steps.map(({ kind, index: name = '' }) => `${kind} ${name}`.trim());

const shapeOf = (of: Template): unknown => [codeOf(of), ...[0, 1].map((at) => namesOf(of, at).toSorted())];

const some = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'));

test('each step changes one index of one table, new code has all its indexes, and an interruption changes nothing (U1, U2, U3)', () => {
  fc.assert(
    fc.property(fc.tuple(some, some), fc.tuple(some, some), (before, after) => {
      const wanted = template('new', ...after);
      const steps = stepsOf(template('old', ...before), wanted);
      expect(steps.at(-1)?.template).toEqual(wanted);
      let now = template('old', ...before);
      steps.forEach((step, done) => {
        const changes = [0, 1].flatMap((at) => {
          const [was, is] = [namesOf(now, at), namesOf(step.template, at)];
          return [...was.filter((name) => !is.includes(name)), ...is.filter((name) => !was.includes(name))];
        });
        expect(changes.length).toBeLessThanOrEqual(1);
        if (step.kind === 'release') {
          // Whatever the new code reads was there before it.
          for (const at of [0, 1]) expect(namesOf(now, at)).toEqual(expect.arrayContaining(after[at] ?? []));
        } else expect(changes).toEqual([step.index]);
        expect(codeOf(step.template)).toBe(step.kind === 'add-index' ? 'old' : codeOf(wanted));
        for (const at of [0, 1])
          expect(
            tableOf(step.template, at)
              .AttributeDefinitions.map((each) => each.AttributeName)
              .toSorted(),
          ).toEqual(
            attributes(namesOf(step.template, at))
              .map((each) => String(each['AttributeName']))
              .toSorted(),
          );
        now = step.template;
        const rest = steps.slice(done + 1).map((each) => each.template);
        expect(stepsOf(now, wanted).map((each) => shapeOf(each.template))).toEqual(
          (rest.length === 0 ? [wanted] : rest).map(shapeOf),
        );
      });
    }),
  );
});

test('two new indexes come before the release, two former ones go with it and after it', () => {
  expect(said(stepsOf(template('old', ['a', 'x', 'y']), template('new', ['a', 'b', 'c'])))).toEqual([
    'add-index b',
    'add-index c',
    'release',
    'remove-index y',
  ]);
  expect(said(stepsOf(undefined, template('new', ['a', 'b'])))).toEqual(['release']);
});

test('an index with other keys is refused: it would be replaced, which are two changes', () => {
  const old = template('old', ['a']);
  const table = old.Resources['Table0'] ?? {};
  const changed: Template = {
    Resources: {
      ...old.Resources,
      Table0: {
        ...table,
        Properties: { ...Object(table['Properties']), GlobalSecondaryIndexes: [index('a', 'S')] },
      },
    },
  };
  expect(() => stepsOf(changed, template('new', ['a']))).toThrow(
    "the index 'a' of the table Table0 has other keys or attributes in the release",
  );
});
