'use strict';
// The few lines of TAP that the JavaScript clients need.
let count = 0;
let failed = 0;

/** One test: the call returns, or promises, something true. */
exports.check = async (name, call) => {
  count++;
  let reason = '';
  try {
    reason = (await call()) ? '' : 'false';
  } catch (error) {
    reason = String(error);
  }
  failed += reason ? 1 : 0;
  console.log(reason ? `not ok ${count} - ${name} # ${reason}` : `ok ${count} - ${name}`);
};

/** True if the call throws or promises nothing true. */
exports.fails = async (call) => {
  try {
    return !(await call());
  } catch {
    return true;
  }
};

/** True as soon as the call is, if that is in time. */
exports.within = async (seconds, call) => {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    if (await call()) {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
};

exports.done = () => {
  console.log(`1..${count}`);
  process.exit(failed > 0 ? 1 : 0);
};
