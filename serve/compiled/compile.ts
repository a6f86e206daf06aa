/**
 * Compiles a project's files to JavaScript, one by one, for a process without a TypeScript loader.
 *
 * Owns: rewriting the names in imports, and refusing projects that it cannot compile safely. Does not own:
 * where the results are stored (`kept.ts`).
 *
 * B1 The module graph does not change: no file is merged into another, so all are evaluated in the same
 * order. B2 Code that could behave differently in another folder is refused; the loader then loads the
 * project.
 */

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, extname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';
import { hashOf } from './hash.ts';

/** A package that `import` shares; `require` shares it through the module cache (`../author.ts`). */
export interface SharedPackage {
  /** The package's real folder. Another copy of the package is not replaced. */
  readonly folder: string;
  readonly url: string;
}

export interface CompileOptions {
  /** The folder for the results; package names are resolved from there. */
  readonly into: string;
  /** Packages by the name that an author imports. */
  readonly shared: Readonly<Record<string, SharedPackage>>;
}

export interface Compiled {
  /**
   * The text of each file read: the project's files, and the package.json files that set their module kind.
   */
  readonly inputs: ReadonlyMap<string, string>;
  /** The result for each file of the project; absent if the project was refused. */
  readonly outputs?: ReadonlyMap<string, Output>;
}

export interface Output {
  readonly name: string;
  readonly code: string;
}

class Refused extends Error {}

/**
 * Code that cannot be compiled safely: computed names, or a dependence on compiler settings or on the file's
 * location.
 */
const UNSURE: readonly RegExp[] = [
  /\bimport\s*\(\s*(?!['"])/,
  /\brequire\s*(?:\(\s*(?!['"])|\.)/,
  /\bimport\.meta\b(?!\.(?:dirname|filename|url)\b)/,
  /^\s*@[A-Za-z]/m,
  /\bmodule\s*\.\s*(?!exports\b)/,
];
const OF_COMMON_JS = /\b__(?:dir|file)name\b|\brequire\s*\(|\bmodule\.exports\b/;
const OF_MODULES = /^\s*(?:import|export)\b/m;
const UNSURE_SETTINGS = /"(?:useDefineForClassFields|paths)"|"target"\s*:\s*"es(?:3|5|6|201\d|202[01])"/i;
const DECLARES = /"steadfast"\s*:/;
const ENDINGS: readonly string[] = ['.ts', '.mts', '.js', '.mjs'];
const IN_PACKAGES = `${sep}node_modules${sep}`;
/** Marks a resolve request that this plugin leaves to esbuild. */
const OWN = 'own';

type Kind = 'cjs' | 'esm';

/** @param files the files of one project @returns no outputs if the project must be loaded by the loader */
export async function compile(files: readonly string[], options: CompileOptions): Promise<Compiled> {
  const project = new Project(options);
  try {
    await Promise.all(files.map((file) => project.add(file)));
    return { inputs: project.inputs, outputs: project.outputs };
  } catch (error) {
    if (error instanceof Refused) return { inputs: project.inputs };
    throw error;
  } finally {
    // Ends esbuild's separate process, which a server no longer needs.
    await stop();
  }
}

/** The result's name, the same at each start, so that results can import each other. */
const nameOf = (file: string, kind: Kind): string =>
  `${basename(file, extname(file))}-${hashOf(file).slice(0, 10)}.${kind === 'esm' ? 'mjs' : 'cjs'}`;

class Project {
  readonly inputs = new Map<string, string>();
  readonly outputs = new Map<string, Output>();
  readonly #options: CompileOptions;
  #kind: Kind | undefined;

  constructor(options: CompileOptions) {
    this.#options = options;
  }

  async add(file: string): Promise<void> {
    if (this.inputs.has(file)) return;
    const text = this.#read(file);
    const kind = this.#kindOf(file);
    if ((this.#kind ??= kind) !== kind) throw new Refused('modules of both kinds');
    const unsure = kind === 'esm' ? [...UNSURE, OF_COMMON_JS] : UNSURE;
    if (unsure.some((pattern) => pattern.test(text))) throw new Refused(file);
    // Node detects by itself that such a file is an ES module.
    if (kind === 'cjs' && extname(file) === '.js' && OF_MODULES.test(text)) throw new Refused(file);
    const below: string[] = [];
    const name = nameOf(file, kind);
    this.outputs.set(file, { name, code: await this.#translated(file, name, kind, below) });
    await Promise.all(below.map((one) => this.add(one)));
  }

  #read(file: string): string {
    const text = readFileSync(file, 'utf8');
    this.inputs.set(file, text);
    return text;
  }

  /** The kind of module by Node's rule: the extension, or the nearest manifest. */
  #kindOf(file: string): Kind {
    const ending = extname(file);
    if (!ENDINGS.includes(ending)) throw new Refused(file);
    let kind: Kind | undefined = ending.startsWith('.m') ? 'esm' : undefined;
    for (let at = dirname(file); ; at = dirname(at)) {
      const settings = join(at, 'tsconfig.json');
      if (existsSync(settings) && UNSURE_SETTINGS.test(this.#read(settings))) throw new Refused(settings);
      const manifest = join(at, 'package.json');
      if (existsSync(manifest)) {
        const { type } = JSON.parse(this.#read(manifest)) as { readonly type?: string };
        kind ??= type === 'module' ? 'esm' : 'cjs';
      }
      if (kind !== undefined && existsSync(manifest)) return kind;
      if (at === dirname(at)) return kind ?? 'cjs';
    }
  }

  async #translated(file: string, name: string, kind: Kind, below: string[]): Promise<string> {
    const [folder, url] = [dirname(file), pathToFileURL(file).href];
    const own =
      kind === 'cjs'
        ? { __dirname: folder, __filename: file }
        : { 'import.meta.dirname': folder, 'import.meta.filename': file, 'import.meta.url': url };
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: [file],
      outfile: join(this.#options.into, name),
      write: false,
      bundle: true,
      format: kind,
      platform: 'node',
      target: 'node20',
      keepNames: true,
      ignoreAnnotations: true,
      sourcemap: 'inline',
      sourcesContent: false,
      tsconfigRaw: {},
      define: Object.fromEntries(Object.entries(own).map(([key, value]) => [key, JSON.stringify(value)])),
      logLevel: 'silent',
      plugins: [this.#names(file, kind, below)],
    }).catch((error: unknown) => {
      // The loader reports the fault in its own words, with the line.
      throw new Refused(file, { cause: error });
    });
    return outputFiles[0]?.text ?? '';
  }

  /** Keeps every import: a project's file is imported by its result's name, a package as before. */
  #names(file: string, kind: Kind, below: string[]): Plugin {
    return {
      name: 'names',
      setup: (translating) => {
        translating.onResolve({ filter: /./ }, async ({ path, kind: by, resolveDir, pluginData }) => {
          if (by === 'entry-point' || pluginData === OWN) return undefined;
          if (isBuiltin(path)) return { path, external: true };
          if (!/^\.{0,2}\//.test(path)) return { path: this.#package(path, file, kind), external: true };
          const found = await translating.resolve(path, { kind: by, resolveDir, pluginData: OWN });
          if (found.errors.length > 0 || found.path.includes(IN_PACKAGES)) throw new Refused(path);
          below.push(found.path);
          return { path: `./${nameOf(found.path, kind)}`, external: true };
        });
      },
    };
  }

  #package(name: string, file: string, kind: Kind): string {
    const [, own] = /^((?:@[\w.-]+\/)?[\w.-]+)(?:\/|$)/.exec(name) ?? [];
    const from = own === undefined ? undefined : packageAbove(dirname(file), own);
    if (own === undefined || from === undefined || from !== packageAbove(this.#options.into, own))
      throw new Refused(name);
    // A link to a workspace's sources, which may be TypeScript.
    if (own !== 'steadfast' && !from.includes(IN_PACKAGES)) throw new Refused(name);
    const shared = this.#options.shared[name];
    if (shared?.folder === from) return kind === 'esm' ? shared.url : name;
    // The package would load its own copy of the entry beside the shared one.
    if (own !== 'steadfast' && DECLARES.test(readFileSync(join(from, 'package.json'), 'utf8')))
      throw new Refused(name);
    return name;
  }
}

/** The folder in which Node finds the package from there, without links. */
function packageAbove(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return realpathSync(found);
    if (at === dirname(at)) return undefined;
  }
}
