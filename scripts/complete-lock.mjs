// Adds to package-lock.json the entries of optional platform packages that the registry did not serve when
// the lock was created. Without them `npm ci` refuses the lock (EUSAGE Missing: …) on this platform or on
// another. Run it after every `npm install`: npm run complete-lock
import fs from 'node:fs';

const file = 'package-lock.json';
const lock = JSON.parse(fs.readFileSync(file, 'utf8'));
const osNames = ['android', 'darwin', 'linux', 'win32', 'freebsd', 'openharmony'];
let added = 0;

for (const [path, entry] of Object.entries({ ...lock.packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = path === '' ? undefined : `${path}/node_modules/${name}`;
    if (lock.packages[`node_modules/${name}`] || (nested && lock.packages[nested])) continue;
    if (!/^\d/.test(version)) {
      console.log('skipped, not an exact version:', path, name, version);
      continue;
    }
    lock.packages[`node_modules/${name}`] = platformEntry(name, version, entry.dev);
    added += 1;
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`added ${added} entries to ${file}`);

/** Reads the platform from the package's name: `@swc/core-linux-arm64-musl` → linux, arm64, musl. */
function platformEntry(name, version, dev) {
  const target = name.split('/').pop();
  const os = osNames.find((o) => target.includes(o));
  const cpu = target.includes('wasm32')
    ? 'wasm32'
    : (target.match(/arm64|arm|x64|ia32|ppc64|s390x|riscv64|loong64/) ?? [])[0];
  const entry = { version, optional: true };
  if (dev) entry.dev = dev;
  if (cpu) entry.cpu = [cpu];
  if (os) entry.os = [os];
  if (target.includes('musl')) entry.libc = ['musl'];
  else if (target.includes('gnu') && os === 'linux') entry.libc = ['glibc'];
  return entry;
}
