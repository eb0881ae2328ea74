//! What one file defines and mentions.

use std::path::Path;

use proc_macro2::{Spacing, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemForeignMod, ItemMod, ItemUse, Macro, UseTree, Visibility};

use crate::crates::{Module, Place};

/// A name that a `use` brings into a module; without a name all those of `path`.
pub struct Import {
    pub name: Option<String>,
    pub path: Vec<String>,
}

/// A path in the code.
pub struct Mention {
    pub module: Vec<String>,
    pub path: Vec<String>,
    pub place: Place,
    /// The path before an exclamation mark.
    pub is_macro: bool,
}

pub struct Seen {
    pub modules: Vec<(Vec<String>, Module)>,
    pub mentions: Vec<Mention>,
    pub types: Vec<(String, Place)>,
    pub foreign: Vec<Place>,
    /// Names of `macro_rules!`.
    pub macros: Vec<String>,
}

/// Looks through a file that is the module `path`.
pub fn look(file: &Path, path: Vec<String>, syntax: &File) -> Seen {
    let mut look = Look {
        file,
        module: path,
        open: vec![],
        seen: Seen {
            modules: vec![],
            mentions: vec![],
            types: vec![],
            foreign: vec![],
            macros: vec![],
        },
    };
    look.items(&syntax.items);
    look.seen
}

struct Look<'a> {
    file: &'a Path,
    /// The module that is being looked at.
    module: Vec<String>,
    /// Its names, behind those of the modules around it in this file.
    open: Vec<Module>,
    seen: Seen,
}

impl Look<'_> {
    fn place(&self, span: Span) -> Place {
        Place {
            file: self.file.to_path_buf(),
            line: span.start().line,
        }
    }

    fn items(&mut self, items: &[Item]) {
        let mut module = Module {
            file: self.file.to_path_buf(),
            ..Module::default()
        };
        module.items.extend(items.iter().filter_map(name_of));
        self.open.push(module);
        items.iter().for_each(|item| self.visit_item(item));
        if let Some(module) = self.open.pop() {
            self.seen.modules.push((self.module.clone(), module));
        }
    }

    fn mention(&mut self, path: Vec<String>, span: Span, is_macro: bool) {
        let (module, place) = (self.module.clone(), self.place(span));
        self.seen.mentions.push(Mention {
            module,
            path,
            place,
            is_macro,
        });
    }

    /// Names of a `use`, each with its whole path. A module that re-exports what its children define does not depend on them by that.
    fn tree(&mut self, path: &[String], tree: &UseTree, exported: bool) {
        let (name, last, span) = match tree {
            UseTree::Path(p) => {
                let path = [path, &[p.ident.to_string()]].concat();
                return self.tree(&path, &p.tree, exported);
            }
            UseTree::Group(g) => {
                return g.items.iter().for_each(|t| self.tree(path, t, exported));
            }
            UseTree::Name(n) => (Some(n.ident.to_string()), Some(&n.ident), n.ident.span()),
            UseTree::Rename(r) => (Some(r.rename.to_string()), Some(&r.ident), r.ident.span()),
            UseTree::Glob(g) => (None, None, g.star_token.spans[0]),
        };
        let mut path = path.to_vec();
        let mut name = name;
        match last {
            Some(last) if last == "self" && !path.is_empty() => {
                let whole = path.last().cloned();
                name = name.and_then(|n| if n == "self" { whole } else { Some(n) });
            }
            Some(last) => path.push(last.to_string()),
            None => (),
        }
        if !exported {
            self.mention(path.clone(), span, false);
        }
        if let Some(module) = self.open.last_mut() {
            module.imports.push(Import { name, path });
        }
    }

    /// Paths in what a macro is called with.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = vec![];
        let mut start = Span::call_site();
        // After how many colons, and after a dot, the next token stands.
        let (mut colons, mut dot) = (0, false);
        let mut extern_block = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    if colons != 2 || path.is_empty() {
                        self.end_path(&mut path, start);
                        start = ident.span();
                    }
                    if !dot {
                        path.push(ident.to_string());
                    }
                    (colons, dot) = (0, false);
                    extern_block = u8::from(*ident == "extern");
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    if colons == 1 && punct.spacing() != Spacing::Joint {
                        self.end_path(&mut path, start);
                        colons = 0;
                    }
                    continue;
                }
                _ => (),
            }
            self.end_path(&mut path, start);
            colons = 0;
            dot = matches!(&token, TokenTree::Punct(p) if p.as_char() == '.');
            match token {
                TokenTree::Literal(_) if extern_block == 1 => extern_block = 2,
                TokenTree::Group(group) => {
                    if extern_block == 2 && group.delimiter() == proc_macro2::Delimiter::Brace {
                        let place = self.place(group.span_open());
                        self.seen.foreign.push(place);
                    }
                    extern_block = 0;
                    self.tokens(group.stream());
                }
                _ => extern_block = 0,
            }
        }
        self.end_path(&mut path, start);
    }

    /// A single name in lower case is a variable most of the time.
    fn end_path(&mut self, path: &mut Vec<String>, span: Span) {
        let path = std::mem::take(path);
        let is_type = |name: &String| name.starts_with(|c: char| c.is_ascii_uppercase());
        if path.len() > 1 || path.first().is_some_and(is_type) {
            self.mention(path, span, false);
        }
    }
}

impl<'ast> Visit<'ast> for Look<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if attributes(item).iter().any(only_for_tests) {
            return;
        }
        let defined = match item {
            Item::Struct(i) => Some(&i.ident),
            Item::Enum(i) => Some(&i.ident),
            Item::Union(i) => Some(&i.ident),
            Item::Trait(i) => Some(&i.ident),
            Item::Type(i) => Some(&i.ident),
            _ => None,
        };
        if let Some(ident) = defined {
            let place = self.place(ident.span());
            self.seen.types.push((ident.to_string(), place));
        }
        if let Item::Macro(i) = item {
            self.seen
                .macros
                .extend(i.ident.iter().map(ToString::to_string));
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if let Some((_, items)) = &item.content {
            self.module.push(item.ident.to_string());
            self.items(items);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let exported = !matches!(item.vis, Visibility::Inherited);
        self.tree(&[], &item.tree, exported);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast ItemForeignMod) {
        let place = self.place(item.abi.extern_token.span);
        self.seen.foreign.push(place);
        visit::visit_item_foreign_mod(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            let names = path.segments.iter().map(|s| s.ident.to_string()).collect();
            self.mention(names, first.ident.span(), false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        if let Some(first) = called.path.segments.first() {
            let path = &called.path.segments;
            let names = path.iter().map(|s| s.ident.to_string()).collect();
            self.mention(names, first.ident.span(), true);
        }
        self.tokens(called.tokens.clone());
    }
}

fn only_for_tests(attribute: &Attribute) -> bool {
    let list = attribute.meta.require_list();
    list.is_ok_and(|l| l.path.is_ident("cfg") && l.tokens.to_string() == "test")
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// The name that an item defines in its module. Modules are known by their files.
fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Macro(i) => i.ident.as_ref()?,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
