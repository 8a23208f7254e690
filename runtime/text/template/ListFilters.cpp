// SPDX-License-Identifier: Apache-2.0
// Filters of lists and mappings. What Jinja gives as a generator is a list here.
#include "runtime/text/template/Builtins.h"

namespace llmc::templates {

static Value length(Call &call) { return Value::of(lengthOf(call.job, call.self)); }
static Value list(Call &call) {
  Value elements = elementsOf(call.job, call.self);
  elements.isTuple = false;
  return elements;
}

static Value first(Call &call) {
  if (call.self.isString() && call.self.size) // without making a list of all characters
    return Value::of(call.self.text().slice(0, characterAt(call.self.text(), 0).size));
  const Value elements = elementsOf(call.job, call.self);
  return elements.size ? elements.elements[0] : Value::undefined();
}

static Value last(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  return elements.size ? elements.elements[elements.size - 1] : Value::undefined();
}

static Value otherwise(Call &call) {
  const bool missing =
      call.self.is(Kind::Undefined) || (call.truth(1, false) && !isTrue(call.self));
  return !missing ? call.self : call.given[0] ? call.values[0] : Value::of(Text());
}

static Value join(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  const Text between = call.text(0);
  TextBuilder result(call.job);
  for (size_t i = 0; i < elements.size && call.job.spend(1); ++i) {
    Value element = elements.elements[i];
    if (call.given[1] && !call.values[1].is(Kind::None))
      element = call.evaluator.attributeByPath(element, call.values[1]);
    result.append(i ? between : Text());
    result.append(toText(call.job, element));
  }
  return result.value();
}

static Value reverse(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  ListBuilder list(call.job);
  TextBuilder text(call.job);
  for (size_t i = elements.size; i-- > 0 && call.job.spend(1);) {
    if (call.self.isString())
      text.append(elements.elements[i].text());
    else
      list.push(elements.elements[i]);
  }
  return call.self.isString() ? text.value() : listOf(list);
}

static Value pairOf(Job &job, const Value &key, const Value &value) {
  ListBuilder pair(job);
  pair.push(key);
  pair.push(value);
  return listOf(pair, true);
}

static Value items(Call &call) {
  ListBuilder list(call.job);
  if (call.self.is(Kind::Undefined))
    return listOf(list);
  if (!call.self.is(Kind::Dict)) {
    call.job.failHere("found %s, expected a mapping to take the items of",
                      describe(call.self.kind));
    return Value();
  }
  const Dict &dict = *call.self.dict;
  for (size_t i = 0; i < dict.size && call.job.spend(1); ++i)
    list.push(pairOf(call.job, dict.entries[i].key, dict.entries[i].value));
  return listOf(list);
}

static Value attribute(Call &call) {
  const Value found = call.evaluator.attributeOf(call.self, call.text(0));
  const bool isKey = call.self.is(Kind::Dict) && !found.is(Kind::Callable);
  return isKey ? Value::undefined(call.text(0)) : found;
}

// What is false (none, 0) has no elements for map and select.
static Value elementsOrNone(Call &call) {
  return isTrue(call.self) ? elementsOf(call.job, call.self) : Value::list(nullptr, 0);
}

// map("upper"), map(attribute="name", default=""): each element through a filter, or its attribute.
static Value map(Call &call) {
  const Value elements = elementsOrNone(call);
  const Arguments &all = call.all;
  const Value *path = nullptr, *fallback = nullptr;
  for (size_t i = 0; i < all.namedCount && !all.count; ++i) {
    path = all.named[i].name == Text("attribute") ? &all.named[i].value : path;
    fallback = all.named[i].name == Text("default") ? &all.named[i].value : fallback;
  }
  const Builtin *filter = nullptr;
  if (!path && all.count && all.positional[0].isString())
    filter = findBuiltin(kFilters, all.positional[0].text());
  if (!path && !filter) {
    call.job.failHere("found no filter that is known for 'map', expected its name, or attribute=");
    return Value();
  }
  ListBuilder list(call.job);
  for (size_t i = 0; i < elements.size && call.job.spend(1); ++i) {
    const Value &element = elements.elements[i];
    list.push(path ? call.evaluator.attributeByPath(element, *path, fallback)
                   : call.evaluator.callBuiltin(*filter, element, all.from(1)));
  }
  return listOf(list);
}

// select, reject and their attr forms: the elements for which a test (or truth) gives `wanted`.
static Value keep(Call &call, bool byAttribute, bool wanted) {
  const Value elements = elementsOrNone(call);
  const size_t first = byAttribute;
  if (call.all.count < first) {
    call.job.failHere("found no argument for '%s', expected the name of an attribute",
                      call.builtin.name);
    return Value();
  }
  const Builtin *test = nullptr;
  if (call.all.count > first) {
    const Value &name = call.all.positional[first];
    test = name.isString() ? findBuiltin(kTests, name.text()) : nullptr;
    if (!test) {
      call.job.failHere("found no test that is known for '%s', expected its name",
                        call.builtin.name);
      return Value();
    }
  }
  ListBuilder list(call.job);
  for (size_t i = 0; i < elements.size && call.job.spend(1); ++i) {
    Value element = elements.elements[i];
    if (byAttribute)
      element = call.evaluator.attributeByPath(element, call.all.positional[0]);
    if (test)
      element = call.evaluator.callBuiltin(*test, element, call.all.from(first + 1));
    if (isTrue(element) == wanted)
      list.push(elements.elements[i]);
  }
  return listOf(list);
}

static Value select(Call &call) { return keep(call, false, true); }
static Value reject(Call &call) { return keep(call, false, false); }
static Value selectAttribute(Call &call) { return keep(call, true, true); }
static Value rejectAttribute(Call &call) { return keep(call, true, false); }

static void moveValues(Value *to, const Value *from, size_t count) {
  memmove(static_cast<void *>(to), from, count * sizeof *to);
}

void sortValues(Job &job, Value *values, Value *keys, size_t count, bool reverse) {
  if (count < 2)
    return;
  Value *sortedValues = job.allocate<Value>(count), *sortedKeys = job.allocate<Value>(count);
  if (!sortedValues || !sortedKeys)
    return;
  for (size_t width = 1; width < count; width *= 2) { // merges runs, bottom up
    for (size_t start = 0; start < count; start += 2 * width) {
      const size_t middle = start + width < count ? start + width : count;
      const size_t end = start + 2 * width < count ? start + 2 * width : count;
      size_t left = start, right = middle;
      for (size_t i = start; i < end && job.spend(1); ++i) {
        bool takeRight = left == middle;
        if (left < middle && right < end) {
          const int relation = order(job, keys[right], keys[left]);
          takeRight = reverse ? relation > 0 : relation < 0;
        }
        const size_t from = takeRight ? right++ : left++;
        sortedValues[i] = values[from], sortedKeys[i] = keys[from];
      }
    }
    if (job.failed())
      return;
    moveValues(values, sortedValues, count);
    moveValues(keys, sortedKeys, count);
  }
}

static Value foldCase(Job &job, const Value &value, bool caseSensitive) {
  if (caseSensitive || !value.isString())
    return value;
  TextBuilder result(job);
  appendCase(result, job, value.text(), LetterCase::Lower);
  return result.value();
}

// What an element is compared by: itself, or its attribute.
static Value keyOf(Call &call, const Value &element, size_t attributeIndex, bool caseSensitive) {
  if (!call.given[attributeIndex] || call.values[attributeIndex].is(Kind::None))
    return foldCase(call.job, element, caseSensitive);
  const Value &path = call.values[attributeIndex];
  return foldCase(call.job, call.evaluator.attributeByPath(element, path), caseSensitive);
}

// What an element is sorted by: itself, or a list of the attributes "a,b.c".
static Value sortKeyOf(Call &call, const Value &element, bool caseSensitive) {
  const Value &path = call.values[2];
  if (!call.given[2] || !path.isString())
    return keyOf(call, element, 2, caseSensitive);
  ListBuilder keys(call.job);
  Text rest = path.text();
  for (bool more = true; more && !call.job.failed();) {
    const size_t comma = rest.find(",");
    more = comma != Text::kNone;
    const Value part = Value::of(rest.slice(0, more ? comma : rest.size));
    keys.push(foldCase(call.job, call.evaluator.attributeByPath(element, part), caseSensitive));
    rest = more ? rest.from(comma + 1) : Text();
  }
  return listOf(keys);
}

static Value sort(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  Value *values = call.job.allocate<Value>(elements.size);
  Value *keys = call.job.allocate<Value>(elements.size);
  if (!values || !keys)
    return Value();
  for (size_t i = 0; i < elements.size; ++i) {
    values[i] = elements.elements[i];
    keys[i] = sortKeyOf(call, elements.elements[i], call.truth(1, false));
  }
  sortValues(call.job, values, keys, elements.size, call.truth(0, false));
  return Value::list(values, elements.size);
}

static Value sortDict(Call &call) {
  const Value pairs = items(call);
  if (call.job.failed())
    return Value();
  const bool byValue = call.text(1, "key") == Text("value");
  Value *values = call.job.allocate<Value>(pairs.size);
  Value *keys = call.job.allocate<Value>(pairs.size);
  if (!values || !keys)
    return Value();
  for (size_t i = 0; i < pairs.size; ++i) {
    values[i] = pairs.elements[i];
    keys[i] = foldCase(call.job, pairs.elements[i].elements[byValue], call.truth(0, false));
  }
  sortValues(call.job, values, keys, pairs.size, call.truth(2, false));
  return Value::list(values, pairs.size);
}

static Value unique(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  ListBuilder list(call.job), seen(call.job);
  for (size_t i = 0; i < elements.size && !call.job.failed(); ++i) {
    const Value key = keyOf(call, elements.elements[i], 1, call.truth(0, false));
    if (contains(call.job, listOf(seen), key))
      continue;
    seen.push(key);
    list.push(elements.elements[i]);
  }
  return listOf(list);
}

static Value extreme(Call &call, bool largest) {
  const Value elements = elementsOf(call.job, call.self);
  Value best, bestKey;
  for (size_t i = 0; i < elements.size && !call.job.failed(); ++i) {
    const Value key = keyOf(call, elements.elements[i], 1, call.truth(0, false));
    const int relation = i && !call.job.failed() ? order(call.job, key, bestKey) : 0;
    if (i == 0 || (largest ? relation > 0 : relation < 0))
      best = elements.elements[i], bestKey = key;
  }
  return best;
}
static Value smallest(Call &call) { return extreme(call, false); }
static Value largest(Call &call) { return extreme(call, true); }

static Value sum(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  Value total = call.given[1] ? call.values[1] : Value::of(int64_t(0));
  for (size_t i = 0; i < elements.size && call.job.spend(1); ++i) {
    Value element = elements.elements[i];
    if (call.given[0] && !call.values[0].is(Kind::None))
      element = call.evaluator.attributeByPath(element, call.values[0]);
    total = apply(call.job, Operation::Add, total, element);
  }
  return total;
}

static Value batch(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  const int64_t size = call.integer(0, 1);
  if (size < 1) {
    call.job.failHere("found batches of %lld, expected at least 1", static_cast<long long>(size));
    return Value();
  }
  ListBuilder batches(call.job);
  for (size_t start = 0; start < elements.size && !call.job.failed(); start += size_t(size)) {
    ListBuilder one(call.job);
    for (size_t i = start; i < elements.size && i - start < size_t(size) && call.job.spend(1); ++i)
      one.push(elements.elements[i]);
    while (call.given[1] && !call.values[1].is(Kind::None) && one.size() < size_t(size) &&
           call.job.spend(1))
      one.push(call.values[1]);
    batches.push(listOf(one));
  }
  return listOf(batches);
}

// Pairs of what the elements are grouped by and the elements, sorted by the former.
static Value groupBy(Call &call) {
  const Value elements = elementsOf(call.job, call.self);
  Value *values = call.job.allocate<Value>(elements.size);
  Value *keys = call.job.allocate<Value>(elements.size);
  if (!values || !keys)
    return Value();
  auto valueOf = [&](const Value &element) {
    const Value found = call.evaluator.attributeByPath(element, call.values[0]);
    return found.is(Kind::Undefined) && call.given[1] ? call.values[1] : found;
  };
  for (size_t i = 0; i < elements.size; ++i) {
    values[i] = elements.elements[i];
    keys[i] = foldCase(call.job, valueOf(values[i]), call.truth(2, false));
  }
  sortValues(call.job, values, keys, elements.size, false);
  ListBuilder groups(call.job);
  for (size_t start = 0, end = 0; start < elements.size && !call.job.failed(); start = end) {
    while (end < elements.size && (end == start || isEqual(call.job, keys[end], keys[start])))
      ++end;
    groups.push(pairOf(call.job, valueOf(values[start]), Value::list(values + start, end - start)));
  }
  return listOf(groups);
}

const Builtin kListFilters[] = {
    {"attr", attribute, "name", 1},
    {"batch", batch, "linecount,fill_with", 1},
    {"count", length, "", 0},
    {"d", otherwise, "default_value,boolean", 0},
    {"default", otherwise, "default_value,boolean", 0},
    {"dictsort", sortDict, "case_sensitive,by,reverse", 0},
    {"first", first, "", 0},
    {"groupby", groupBy, "attribute,default,case_sensitive", 1},
    {"items", items, "", 0},
    {"join", join, "d,attribute", 0},
    {"last", last, "", 0},
    {"length", length, "", 0},
    {"list", list, "", 0},
    {"map", map, "*", 0},
    {"max", largest, "case_sensitive,attribute", 0},
    {"min", smallest, "case_sensitive,attribute", 0},
    {"reject", reject, "*", 0},
    {"rejectattr", rejectAttribute, "*", 0},
    {"reverse", reverse, "", 0},
    {"select", select, "*", 0},
    {"selectattr", selectAttribute, "*", 0},
    {"sort", sort, "reverse,case_sensitive,attribute", 0},
    {"sum", sum, "attribute,start", 0},
    {"unique", unique, "case_sensitive,attribute", 0},
    {nullptr, nullptr, nullptr, 0},
};

} // namespace llmc::templates
