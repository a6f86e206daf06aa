/** Which type declarations the package publishes. */

import { neededDeclarations } from '../scripts/declarations.ts';

const needed = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(neededDeclarations(['lib/index.d.ts'], new Map(Object.entries(texts))));

describe('of the declarations', () => {
  it('stays what the types of an entry need, with its comment, and no import that nothing needs', () => {
    const kept = needed({
      'lib/index.d.ts': "import { type A, idle } from './a.js';\nexport declare const first: A;\n",
      'lib/a.d.ts':
        "import type { B } from './b.js';\n/**\n * Two letters.\n */\nexport type A = 'a'\n/** The other. */\n | Inner;\ntype Inner = B | import('./c.js').C;\nexport declare function idle(given: D): void;\ninterface D {\n    readonly d: B;\n}\n",
      'lib/b.d.ts': 'export interface B {\n    readonly b: 1;\n}\nexport declare class Idle {\n}\n',
      'lib/c.d.ts': 'export type C = 1;\n',
      'lib/d.d.ts': 'export type D = 1;\n',
    });
    expect(kept).toEqual({
      'lib/index.d.ts': "import { type A } from './a.js';\nexport declare const first: A;\n",
      'lib/a.d.ts':
        "import type { B } from './b.js';\n/**\n * Two letters.\n */\nexport type A = 'a'\n/** The other. */\n | Inner;\ntype Inner = B | import('./c.js').C;\n",
      'lib/b.d.ts': 'export interface B {\n    readonly b: 1;\n}\n',
      'lib/c.d.ts': 'export type C = 1;\n',
    });
  });

  it('stays what is exported under another name, or by a list, and all of a module that is taken whole', () => {
    const kept = needed({
      'lib/index.d.ts':
        "import * as all from './a.js';\nexport { B as C, idle } from './b.js';\nexport type { all };\n",
      'lib/a.d.ts': 'export type A = 1;\nexport type Z = 2;\n',
      'lib/b.d.ts':
        "import { one, two } from './d.js';\ninterface Own {\n}\nexport { one as idle, Own as B, two };\n",
      'lib/d.d.ts': 'export declare const one: 1;\nexport declare const two: 2;\n',
    });
    expect(kept['lib/a.d.ts']).toBe('export type A = 1;\nexport type Z = 2;\n');
    expect(kept['lib/b.d.ts']).toBe(
      "import { one } from './d.js';\ninterface Own {\n}\nexport { one as idle, Own as B };\n",
    );
    expect(kept['lib/d.d.ts']).toBe('export declare const one: 1;\n');
  });
});
